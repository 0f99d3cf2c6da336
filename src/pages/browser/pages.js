/** The script of the dashboard and the inspector: it keeps the page up to date and copies. Everything else works without it. */
import { stayLive } from "./live.js";

const connection = document.getElementById("connection");
const STATES = { live: "Connected", stopped: "Not connected" };

if (connection !== null) connection.textContent = "Connecting…";
stayLive((state) => {
  if (connection === null || connection.dataset["state"] === state) return;
  connection.dataset["state"] = state;
  connection.textContent = STATES[state];
});

// The style shows what needs the script.
document.documentElement.classList.add("scripted");

// What the last action did is told once, not again when the page is loaded again.
const url = new URL(location.href);
if (url.searchParams.has("done")) {
  url.searchParams.delete("done");
  history.replaceState(null, "", url);
}

/** Tells screen readers what was copied. */
const spoken = document.createElement("p");
spoken.setAttribute("role", "status");
spoken.className = "hidden";
document.body.append(spoken);

/** @param {string} text */
async function write(text) {
  // Browsers have no clipboard for http pages of another host than this machine's.
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.className = "hidden";
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (!isCopied) throw new Error("The browser does not allow copying.");
}

/** @param {HTMLElement} button */
async function copy(button) {
  const { copy: text, copyFrom = "" } = button.dataset;
  const result = await write(text ?? document.getElementById(copyFrom)?.textContent ?? "").then(
    () => "Copied",
    () => "Not copied",
  );
  // The field that was copied from had the focus.
  button.focus();
  button.textContent = spoken.textContent = result;
  setTimeout(() => {
    button.textContent = "Copy";
    spoken.textContent = "";
  }, 2_000);
}

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const button = event.target.closest("button.copy");
  if (button instanceof HTMLElement) return void copy(button);
  const isSelecting = getSelection()?.isCollapsed === false;
  if (isSelecting || event.target.closest("a, button, input, summary")) return;
  const row = event.target.closest("tr");
  const link = row?.querySelector(".main a") ?? row?.querySelector("a");
  link?.dispatchEvent(new MouseEvent("click", event));
});

// As on many pages: / goes to the search.
document.addEventListener("keydown", (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (key !== "/" || ctrlKey || metaKey || altKey) return;
  if (target instanceof Element && target.matches("input, select, textarea")) return;
  const search = document.getElementById("search");
  if (search === null || document.querySelector(":popover-open") !== null) return;
  event.preventDefault();
  search.focus();
});
