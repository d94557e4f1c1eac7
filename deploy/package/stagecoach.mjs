#!/usr/bin/env node
/** Starts the bundled program on any Node from 20.18 on. Plain JavaScript of long ago, so that an older one can read what it lacks. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 18)) {
  console.error(`stagecoach: this is Node ${process.versions.node}; it needs 20.18 or newer. nodejs.org/en/download has it`);
  process.exit(3);
}
// Node 22 brings what this adds (Map.groupBy, Promise.withResolvers, methods of sets and iterators).
if (major < 22) await import("./lib/older-node.js");
await import("./lib/main.js");
