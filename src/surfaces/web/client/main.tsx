/** Begins the page in the browser. */
import { render } from "preact";
import { App } from "./app.tsx";

const root = document.getElementById("app");
if (root !== null) render(<App base={document.documentElement.dataset["base"] ?? ""} />, root);
