/**
 * Keeps the open page up to date: at each change it fetches the page again, and makes the live regions like the new ones. Times
 * are in the zone of the browser.
 */

/** Milliseconds to gather changes before fetching. */
const GATHERED = 150;

/** Milliseconds that a new row is highlighted. */
const HIGHLIGHTED = 2_500;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {ChildNode} node */
function highlightRow(node) {
  if (!(node instanceof HTMLTableRowElement) || stillness.matches) return;
  node.animate([{ backgroundColor: "var(--mark)" }, {}], { duration: HIGHLIGHTED, easing: "ease-out" });
}

/** The Swedish spelling of a time is that of ISO 8601. */
const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "long" });

/**
 * Shows exact times in the zone of the browser, with UTC as their title; a time that is cut at minutes stays so.
 * @param {ParentNode} root
 */
function showLocalTimes(root) {
  const zone = local.formatToParts().find(({ type }) => type === "timeZoneName")?.value ?? "";
  for (const name of root.querySelectorAll(".zone")) name.textContent = zone;
  for (const time of root.querySelectorAll("time")) {
    const text = local.format(new Date(time.dateTime));
    if (!time.classList.contains("exact")) time.title = text;
    else {
      const utc = time.textContent ?? "";
      time.title = utc;
      time.textContent = /:\d\d:/.test(utc) ? text : text.replace(/:\d\d (?=\D)/, " ");
    }
  }
}

/**
 * Children by what stays the same when the server renders them again: their id or row, or their kind and place.
 * @param {Node} node
 */
function byKey(node) {
  /** @type {Map<string, ChildNode>} */
  const children = new Map();
  for (const child of node.childNodes) {
    const own = child instanceof HTMLElement ? child.id || child.dataset["row"] : "";
    let place = 0;
    while (children.has(`${child.nodeName} ${own} ${place}`)) place++;
    children.set(`${child.nodeName} ${own} ${place}`, child);
  }
  return children;
}

/**
 * Makes a node like the one that the server has rendered, and leaves alone what is the same in both: the focus, the
 * selection, opened details and typed text stay.
 * @param {Node} node
 * @param {Node} next
 */
export function renew(node, next) {
  if (node.isEqualNode(next)) return;
  if (!(node instanceof Element && next instanceof Element)) return void (node.nodeValue = next.nodeValue);
  for (const name of node.getAttributeNames())
    if (name !== "open" && !next.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  const [own, wanted] = [byKey(node), byKey(next)];
  for (const [key, child] of own) if (!wanted.has(key)) child.remove();
  let place = node.firstChild;
  for (const [key, child] of wanted) {
    const same = own.get(key);
    if (same !== undefined) renew(same, child);
    if (same !== undefined && same === place) place = place.nextSibling;
    else node.insertBefore(same ?? child, place);
    if (same === undefined) highlightRow(child);
  }
}

/** @returns {HTMLElement | null} */
const shown = () => document.querySelector("[data-page]");

const isListInSight = () => (document.getElementById("list")?.getBoundingClientRect().top ?? 0) >= 0;

let hasChanged = false;
let isUpdating = false;

/** The address of a live page has what it shows, so that the server renders the same rows again. */
async function update() {
  const { page, pinned } = shown()?.dataset ?? {};
  if (page === undefined) return;
  const reply = await fetch(isListInSight() ? page : (pinned ?? page), { headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
  showLocalTimes(fresh);
  for (const region of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(region.id);
    if (next !== null) renew(region, next);
  }
}

async function onChange() {
  hasChanged = true;
  if (isUpdating) return;
  isUpdating = true;
  while (hasChanged) {
    await new Promise((done) => setTimeout(done, GATHERED));
    hasChanged = false;
    // A request fails while the sandbox restarts; the page is fetched again once the stream is open.
    if (!document.hidden) await update().catch(() => undefined);
  }
  isUpdating = false;
  schedule();
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Ages and countdowns change without an event: the page says how soon, in milliseconds. */
function schedule() {
  clearTimeout(timer);
  const refresh = shown()?.dataset["refresh"];
  const later = () => (stream?.readyState === EventSource.OPEN ? void onChange() : schedule());
  if (refresh !== undefined) timer = setTimeout(later, Number(refresh));
}

/** @type {EventSource | undefined} */
let stream;
/** True at first: changes between the rendering of the page and the start of the stream are missed too. */
let hasMissed = true;

/** @param {(state: "live" | "reconnecting" | "stopped") => void} show */
function connect(show) {
  stream?.close();
  const opened = new EventSource("/sandbox/events");
  stream = opened;
  opened.addEventListener("open", () => {
    show("live");
    if (hasMissed) void onChange();
    hasMissed = false;
  });
  opened.addEventListener("message", () => void onChange());
  opened.addEventListener("stopped", () => show("stopped"));
  opened.addEventListener("error", () => {
    hasMissed = true;
    show("reconnecting");
    // The browser gives up after a reply that is not a stream, such as that of another program on the port.
    if (opened.readyState === EventSource.CLOSED) setTimeout(() => stream === opened && connect(show), 2_000);
  });
}

/**
 * Updates the page at each change from now on.
 * @param {(state: "live" | "reconnecting" | "stopped") => void} show says whether it does
 */
export function stayLive(show = () => undefined) {
  // A browser opens six connections to a host: a stream in every tab would leave none for pages.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return connect(show);
    stream?.close();
    stream = undefined;
    hasMissed = true;
  });
  // Rows that were only counted arrive once the top of the list is in sight again.
  const onScroll = () => isListInSight() && document.getElementById("fresh") !== null && void onChange();
  addEventListener("scroll", onScroll, { passive: true });
  if (!document.hidden) connect(show);
  schedule();
  showLocalTimes(document);
}
