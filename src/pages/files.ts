/** The files that pages load: their style and their script. */
import type { Hono } from "hono";
import baseStyle from "./browser/base.css?raw";
import liveScript from "./browser/live.js?raw";
import pagesScript from "./browser/pages.js?raw";
import pagesStyle from "./browser/pages.css?raw";
import { fileReply } from "./page.ts";

/** The files of pages of one kind; `style` is what only they have. */
export function serveFiles(app: Hono, kind: "dashboard" | "inspector", style = ""): void {
  app.get(`/${kind}.css`, () => fileReply(baseStyle + pagesStyle + style, "text/css"));
  app.get(`/${kind}.js`, () => fileReply(pagesScript, "text/javascript"));
  app.get("/live.js", () => fileReply(liveScript, "text/javascript"));
}
