import type { ControlPlane } from "../port.ts";
import { rawApplication } from "./application.ts";

/** How a test wants an adapter opened. */
export interface Wishes {
  /** May ask for refreshes. */
  refresh?: boolean;
  /** A CA that did not sign the server's certificate. */
  wrongCa?: boolean;
  namespaces?: string[];
  selector?: string;
  /** Ends a stream that says nothing for so long, in milliseconds. */
  silentMs?: number;
}

/** What the suite needs of an adapter: an Argo CD that it can write to, and ways to open the adapter on it. */
export interface Harness {
  /** Creates or replaces an object, as raw Kubernetes objects. */
  put(object: Record<string, unknown>): Promise<void>;
  remove(kind: "Application" | "ApplicationSet", namespace: string, name: string): Promise<void>;
  /** Registers a cluster with a secret in it that must never come out. */
  addCluster(
    name: string,
    server: string,
    labels: Record<string, string>,
    secret: string,
    annotations?: Record<string, string>,
  ): Promise<void>;
  /** The server is trusted and the account may read everything, unless wished otherwise. Nothing counts as stale for a moment only. */
  open(wishes?: Wishes): ControlPlane;
  /** An adapter whose credentials may not list Applications. */
  openForbidden(): ControlPlane;
  /** Cuts the adapter's streams once. */
  cut(): void;
  /** Makes streams end so that everything must be listed again. */
  expire(): void;
  /** Streams stay open and say nothing while it is on. */
  silence(silent: boolean): void;
  /** Changes of which this holds are not told by the streams, and all others are; null: all are. */
  lose(which: ((object: { metadata: { name: string } }) => boolean) | null): void;
  /** Cuts every connection while it is on. */
  down(down: boolean): void;
  /** The credentials of adapters that are open are no longer good. */
  revoke(): void;
  /** Whether a refresh of this Application was asked for. */
  refreshAsked(namespace: string, name: string): boolean;
  /** Everything that was logged, as text. */
  logged(): string;
  /** The token that must be in no text. */
  token: string;
  close(): Promise<void>;
}

/** Resolves once `holds` is true, asked again whenever the control plane says that something changed. */
export async function until(plane: ControlPlane, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const stop = plane.onChange(() => {
      if (!holds()) return;
      stop();
      resolve();
    });
  });
}

export function named(name: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return rawApplication({ metadata: { name, uid: undefined, ...over } });
}

export function ownedBy(name: string): Record<string, unknown> {
  return { ownerReferences: [{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid: "s" }] };
}

export function applicationSet(name: string): Record<string, unknown> {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name, namespace: "argocd" },
    spec: { generators: [{ list: { elements: [{ cluster: "eu-1" }] } }], template: {} },
  };
}
