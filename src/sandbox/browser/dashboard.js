/** The dashboard's script: it keeps the page up to date, and copies. Everything else works without it. */
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

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button.copy") : null;
  if (button instanceof HTMLElement) void copy(button);
});
