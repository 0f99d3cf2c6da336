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

/** @param {HTMLElement} button */
async function copy(button) {
  const { copy: text, copyFrom = "" } = button.dataset;
  await navigator.clipboard.writeText(text ?? document.getElementById(copyFrom)?.textContent ?? "");
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2_000);
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button.copy") : null;
  if (button instanceof HTMLElement) void copy(button);
});
