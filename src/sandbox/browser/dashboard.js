/**
 * The dashboard's script: rows that change by themselves, copy buttons, and confirmation in a dialog. Everything else
 * works without it.
 */
"use strict";

/** @typedef {{ kind: string, id?: string, link?: string }} Change */

/**
 * An element that every page has.
 * @template {Element} T
 * @param {T | null} element
 */
function found(element) {
  if (element === null) throw new Error("The page lacks an element of its frame.");
  return element;
}

const main = found(document.querySelector("main"));
const connection = found(document.getElementById("connection"));
const dialog = found(document.querySelector("dialog"));
const header = found(document.querySelector("section.head"));
const list = document.getElementById("list");
const page = main.dataset["page"] ?? "/";

/** Milliseconds to gather changes before fetching. */
const GATHERED = 150;
/** Rows in one request; the server shows no more in a list. */
const ROWS = 50;
/** Milliseconds between updates of relative times. */
const REFRESHED = 60_000;

/** The HTML of each live region as the server sent it: the page itself has opened details and shown buttons. */
const shown = new Map(liveRegions(document).map((region) => [region.id, region.innerHTML]));

/** @param {ParentNode} parent */
function liveRegions(parent) {
  return [...parent.querySelectorAll("[data-live]")].filter((region) => region instanceof HTMLElement);
}

/** @param {string} address */
async function fetchPage(address) {
  const reply = await fetch(address, { headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await reply.text(), "text/html");
}

/** @param {Readonly<Record<string, string>>} query */
function pageWith(query) {
  const url = new URL(page, location.href);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** @param {Element} element */
function isSelected(element) {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

/**
 * Changes an element, and keeps what the user opened and focused in it. Does nothing while text in it is selected.
 * @param {HTMLElement} element
 * @param {() => HTMLElement} change returns the element that is then on the page
 */
function keepingState(element, change) {
  if (isSelected(element)) return false;
  const open = [...element.querySelectorAll("details[open]")].map(({ id }) => id);
  const focused = element.contains(document.activeElement) ? handleOf(document.activeElement) : undefined;
  const after = change();
  for (const id of open) after.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
  if (focused !== undefined)
    after.querySelectorAll("a, button, summary").forEach((candidate) => {
      if (candidate instanceof HTMLElement && handleOf(candidate) === focused)
        candidate.focus({ preventScroll: true });
    });
  showCopyButtons(after);
  return true;
}

/**
 * What stays the same when the server renders an element again.
 * @param {Element | null} element
 */
const handleOf = (element) =>
  `${element?.getAttribute("href") ?? ""} ${element?.getAttribute("aria-label") ?? element?.textContent ?? ""}`;

/**
 * @param {Document} fresh
 * @param {ParentNode} parent
 */
function updateRegions(fresh, parent) {
  for (const region of liveRegions(parent)) {
    const html = fresh.getElementById(region.id)?.innerHTML;
    if (html === undefined || html === shown.get(region.id) || region.dataset["live"] === "presence")
      continue;
    const isChanged = keepingState(region, () => {
      region.innerHTML = html;
      return region;
    });
    if (isChanged) shown.set(region.id, html);
  }
}

/** Adds and removes forms and attempts, but does not replace one that is in use. @param {Document} fresh */
function updatePresence(fresh) {
  for (const region of document.querySelectorAll('[data-live="presence"]'))
    if (fresh.getElementById(region.id) === null) region.remove();
  for (const next of fresh.querySelectorAll('[data-live="presence"]'))
    if (document.getElementById(next.id) === null) {
      document.querySelector(".detail-main")?.append(next);
      showCopyButtons(main);
    }
}

/** Rows that are new since the page was loaded. @type {Set<string>} */
const arrived = new Set();

/** @param {ParentNode} parent */
const rowsOf = (parent) => /** @type {HTMLElement[]} */ ([...parent.querySelectorAll("#list tr[data-row]")]);

/** @param {HTMLElement} row */
const rowId = (row) => row.dataset["row"] ?? "";

/** Replaces rows in place, and announces new ones, so that nothing moves under the pointer. @param {Document} fresh */
function updateRows(fresh) {
  const current = new Map(rowsOf(document).map((row) => [rowId(row), row]));
  for (const next of rowsOf(fresh)) {
    const row = current.get(rowId(next));
    if (row !== undefined) {
      if (row.innerHTML !== next.innerHTML)
        keepingState(row, () => {
          row.replaceWith(next);
          return next;
        });
    } else if (next.hasAttribute("data-listed")) arrived.add(rowId(next));
  }
  const link = document.querySelector("#fresh");
  if (!(link instanceof HTMLElement) || arrived.size === 0) return;
  link.textContent = `Show ${arrived.size} new`;
  link.hidden = false;
}

/** @param {Element} element */
const isEmpty = (element) => element.querySelector("table") === null;

/** Shows new rows at once: in an empty list, nothing can move. */
async function fillEmptyList() {
  const fresh = await fetchPage(page);
  const next = fresh.querySelector("#list");
  if (list === null || next === null) return;
  list.innerHTML = next.innerHTML;
  arrived.clear();
  updateRegions(fresh, document);
}

/** @param {readonly string[]} ids */
async function fetchRows(ids) {
  for (let start = 0; start === 0 || start < ids.length; start += ROWS) {
    const fresh = await fetchPage(pageWith({ ids: ids.slice(start, start + ROWS).join(",") }));
    updateRegions(fresh, document);
    updateRows(fresh);
  }
}

/** Updates everything on the page, after changes that it may have missed. */
async function fetchAll() {
  if (list === null) {
    const fresh = await fetchPage(page);
    updateRegions(fresh, document);
    updatePresence(fresh);
  } else if (isEmpty(list)) await fillEmptyList();
  else {
    await fetchRows(rowsOf(document).map(rowId));
    updateRows(await fetchPage(page));
  }
}

/** @type {Change[]} */
let changes = [];
let isUpdating = false;

async function update() {
  await new Promise((done) => setTimeout(done, GATHERED));
  const gathered = changes;
  changes = [];
  const own = main.dataset["link"];
  if (list !== null && !isEmpty(list) && gathered.every(({ id }) => id !== undefined)) {
    const ids = gathered.flatMap(({ kind, id }) =>
      kind === list.dataset["kind"] && id !== undefined ? [id] : [],
    );
    await fetchRows([...new Set(ids)]);
  } else if (list !== null || gathered.some(({ id, link }) => id === undefined || link === own))
    await fetchAll();
  else updateRegions(await fetchPage(page), header);
}

/** @param {Change} change */
async function onChange(change) {
  changes.push(change);
  if (isUpdating) return;
  isUpdating = true;
  // A request fails while the sandbox restarts; everything is fetched again once the stream is open.
  while (changes.length > 0) await update().catch(() => undefined);
  isUpdating = false;
}

const STATES = { live: "Live", reconnecting: "Reconnecting…", stopped: "Sandbox stopped" };

/** @param {keyof typeof STATES} state */
function setConnection(state) {
  if (connection.dataset["state"] === state) return;
  connection.dataset["state"] = state;
  connection.textContent = STATES[state];
}

/** @type {EventSource | undefined} */
let stream;
/** True at first: changes between the rendering of the page and the start of the stream are missed too. */
let hasMissed = true;

function connect() {
  stream?.close();
  const opened = new EventSource("/sandbox/events");
  stream = opened;
  opened.addEventListener("open", () => {
    setConnection("live");
    if (hasMissed) void onChange({ kind: "all" });
    hasMissed = false;
  });
  opened.addEventListener("message", ({ data }) => void onChange(JSON.parse(data)));
  opened.addEventListener("stopped", () => setConnection("stopped"));
  opened.addEventListener("error", () => {
    hasMissed = true;
    if (connection.dataset["state"] !== "stopped") setConnection("reconnecting");
    // The browser gives up after a reply that is not a stream, such as that of another program on the port.
    if (opened.readyState === EventSource.CLOSED) setTimeout(() => stream === opened && connect(), 2_000);
  });
}

// A browser opens six connections to a host: a stream in every tab would leave none for pages.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return connect();
  stream?.close();
  stream = undefined;
  hasMissed = true;
});
if (!document.hidden) connect();
setInterval(() => {
  if (stream?.readyState === EventSource.OPEN) void onChange({ kind: "all" });
}, REFRESHED);

/** @param {ParentNode} parent */
function showCopyButtons(parent) {
  for (const button of parent.querySelectorAll("button.copy")) button.removeAttribute("hidden");
}
showCopyButtons(document);

/** @param {HTMLElement} button */
async function copy(button) {
  const { copy: text, copyFrom = "" } = button.dataset;
  await navigator.clipboard.writeText(text ?? document.getElementById(copyFrom)?.textContent ?? "");
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2_000);
}

/** @param {string} address */
async function confirm(address) {
  const section = (await fetchPage(address)).querySelector("#confirm");
  if (section === null) return void (location.href = address);
  dialog.replaceChildren(section);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target.closest("a, button") : null;
  if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (target.matches("button.copy")) void copy(target);
  else if (target instanceof HTMLAnchorElement && target.matches("[data-confirm]")) {
    event.preventDefault();
    void confirm(target.href);
  } else if (target.matches("dialog [data-close]")) {
    event.preventDefault();
    dialog.close();
  }
});
