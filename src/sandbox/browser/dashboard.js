/** The dashboard's script: it keeps the page up to date, copies, and moves by keys. Everything else works without it. */
import { stayLive } from "./live.js";

/**
 * An element that every page has.
 * @template {Element} T
 * @param {T | null} element
 */
function found(element) {
  if (element === null) throw new Error("The page lacks an element of its frame.");
  return element;
}

const connection = found(document.getElementById("connection"));

const STATES = { live: "Live", reconnecting: "Reconnecting…", stopped: "Sandbox stopped" };

/** @param {keyof typeof STATES} state */
function setConnection(state) {
  const shown = connection.dataset["state"];
  // The stream of a sandbox that was stopped ends with an error.
  if (shown === state || (shown === "stopped" && state === "reconnecting")) return;
  connection.dataset["state"] = state;
  connection.textContent = STATES[state];
}

stayLive(setConnection);

// The style shows what needs the script.
document.documentElement.classList.add("scripted");

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
  linkOf(event.target.closest("tr"))?.dispatchEvent(new MouseEvent("click", event));
});

/** @param {Element | null | undefined} row */
const linkOf = (row) => row?.querySelector(".main a") ?? row?.querySelector("a");

/**
 * Moves the focus to the next or previous row; the row with the focus is where it is.
 * @param {1 | -1} step
 */
function moveToRow(step) {
  const rows = [...document.querySelectorAll("table.list tbody tr")];
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const link = linkOf(rows[Math.max(current + step, 0)]);
  if (link instanceof HTMLElement) link.focus();
}

const KEYS = new Map([
  ["/", () => found(document.getElementById("search")).focus()],
  ["j", () => moveToRow(1)],
  ["k", () => moveToRow(-1)],
]);

document.addEventListener("keydown", (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (target instanceof Element && target.matches("input, select, textarea")) return;
  if (document.querySelector(":popover-open") !== null || altKey) return;
  const action = KEYS.get(ctrlKey || metaKey ? (key === "k" ? "/" : "") : key);
  if (action === undefined) return;
  event.preventDefault();
  action();
});

// A time is entered in the zone of the browser, as all times are shown.
document.addEventListener("submit", ({ target }) => {
  if (!(target instanceof HTMLFormElement)) return;
  const [when, zone] = ["when", "zone"].map((name) => target.elements.namedItem(name));
  if (!(when instanceof HTMLInputElement && zone instanceof HTMLInputElement)) return;
  const minutes = -new Date(when.value).getTimezoneOffset();
  const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  zone.value = `${minutes < 0 ? "-" : "+"}${clock}`;
});
