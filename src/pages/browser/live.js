/**
 * Keeps the open page up to date: it fetches the address that it is on, and makes the live regions like the new ones. Times are
 * in the zone of the browser.
 */

/** Milliseconds that a new row is highlighted. */
const HIGHLIGHTED = 2_500;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {ChildNode} node */
function highlightRow(node) {
  if (!(node instanceof HTMLTableRowElement) || stillness.matches) return;
  node.animate([{ backgroundColor: "var(--mark)" }, {}], { duration: HIGHLIGHTED, easing: "ease-out" });
}

/** The Swedish spelling of a time is that of ISO 8601. */
const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const DATE = 10;
/** Month, day, hour and minute: from where to where. */
const HOUR = /** @type {const} */ ([5, 16]);

/** How far this machine's clock is ahead of the time that the page tells, in milliseconds. */
let ahead = 0;

/**
 * Shows exact times in the zone of the browser, those of today without the date, with UTC as their title.
 * @param {Document} page
 */
function showLocalTimes(page) {
  const now = new Date(page.documentElement.dataset["now"] ?? "");
  ahead = Date.now() - now.getTime();
  const today = local.format(now).slice(0, DATE);
  for (const time of page.querySelectorAll("time")) {
    const text = local.format(new Date(time.dateTime));
    if (!time.classList.contains("exact")) time.title = text;
    else {
      time.title = `${time.dateTime.slice(0, 19).replace("T", " ")} UTC`;
      time.textContent = time.classList.contains("hour")
        ? text.slice(...HOUR)
        : text.startsWith(today) && !time.classList.contains("dated")
          ? text.slice(DATE + 1)
          : text;
    }
  }
}

/** Counts down between two readings of the page. */
function tick() {
  for (const time of document.querySelectorAll("time.countdown")) {
    if (!(time instanceof HTMLTimeElement)) continue;
    const seconds = Math.round((Date.parse(time.dateTime) + ahead - Date.now()) / 1000);
    if (seconds > 0 && seconds < 120) time.textContent = `in ${seconds} second${seconds === 1 ? "" : "s"}`;
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
    if (name !== "open" && node.getAttribute(name) !== value) node.setAttribute(name, value);
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

const rowsOf = (/** @type {ParentNode} */ list) => [...list.querySelectorAll("tbody tr[data-row]")];

/**
 * Changes the rows of a list that is read where they are, so that nothing moves under the pointer, and returns how many
 * are new.
 * @param {Element} list
 * @param {Element} next
 */
function renewInPlace(list, next) {
  const own = new Map(rowsOf(list).map((row) => [row.getAttribute("data-row"), row]));
  const newest = rowsOf(next).findIndex((row) => own.has(row.getAttribute("data-row")));
  for (const row of rowsOf(next)) {
    const same = own.get(row.getAttribute("data-row"));
    if (same !== undefined) renew(same, row);
  }
  next.replaceWith(list.cloneNode(true));
  return newest;
}

/**
 * Whether somebody reads the list: it is scrolled down, the focus is in it, or the pointer is over it. What arrives must move nothing then.
 * @param {Element} list
 */
const isRead = (list) =>
  list.getBoundingClientRect().top < 0 ||
  list.matches(":hover") ||
  (list !== document.activeElement && list.contains(document.activeElement));

/** The address of a page that was posted is in the page; any other one is where it is. */
const addressOfPage = () => document.querySelector("[data-page]")?.getAttribute("data-page") ?? location.href;

async function update() {
  const reply = await fetch(addressOfPage(), { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  if (isInUse()) return;
  showLocalTimes(page);
  const list = document.getElementById("list");
  const next = page.getElementById("list");
  const arrived = list !== null && next !== null && isRead(list) ? renewInPlace(list, next) : 0;
  for (const region of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(region.id);
    if (fresh !== null) renew(region, fresh);
  }
  const fresh = document.getElementById("fresh");
  if (fresh !== null && arrived > 0) {
    fresh.textContent = `Show ${arrived} new`;
    fresh.hidden = false;
  }
  if (document.querySelector("#content[data-live]") !== null) document.title = page.title;
}

/** What a change would take away from people. */
const isInUse = () =>
  document.hidden ||
  getSelection()?.isCollapsed === false ||
  document.querySelector(":popover-open") !== null;

/**
 * Updates the page from now on, at the interval that it names, in milliseconds.
 * @param {(state: "live" | "stopped") => void} [show] says whether it does
 */
export function stayLive(show = () => undefined) {
  const interval = Number(document.documentElement.dataset["poll"]);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const next = async () => {
    clearTimeout(timer);
    if (!isInUse())
      await update().then(
        () => show("live"),
        () => show("stopped"),
      );
    clearTimeout(timer);
    timer = setTimeout(next, interval);
  };
  document.addEventListener("visibilitychange", () => document.hidden || void next());
  document.getElementById("fresh")?.addEventListener("click", () => {
    scrollTo(0, 0);
    void next();
  });
  setInterval(tick, 1_000);
  showLocalTimes(document);
  void next();
}
