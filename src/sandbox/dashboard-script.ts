/** The dashboard's only script: at each event it fetches the page anew and puts its lists in place. */

/** Without it the page shows all the same, as of when it was loaded. What is folded open stays open. */
export const DASHBOARD_SCRIPT = `
"use strict";
let pending;
const refresh = async () => {
  pending = undefined;
  const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
  const live = document.getElementById("live");
  const next = fresh.getElementById("live");
  if (live === null || next === null) return;
  for (const open of live.querySelectorAll("details[open]"))
    next.querySelector("#" + CSS.escape(open.id))?.setAttribute("open", "");
  const focused = document.activeElement?.getAttribute("aria-label");
  live.replaceWith(next);
  if (focused) next.querySelector('[aria-label="' + CSS.escape(focused) + '"]')?.focus();
};
new EventSource("/sandbox/events").onmessage = () => { pending ??= setTimeout(refresh, 100); };
`;
