/**
 * Notifications of the browser when something fails: off until somebody asks for them with the button that this script shows. The
 * page has how much has failed in `data-failed`.
 */

/** Where the choice is kept: it is that of this browser, for all pages of this address. */
const CHOICE = "paylink-notifications";

const button = document.getElementById("notify");

/** @param {Document} page */
const failedIn = (page) => Number(page.querySelector("[data-failed]")?.getAttribute("data-failed") ?? 0);

let known = failedIn(document);

/** Whether the browser notifies of failures, even while nobody looks at the page. */
export const isNotifying = () =>
  button !== null &&
  "Notification" in window &&
  Notification.permission === "granted" &&
  localStorage.getItem(CHOICE) === "on";

/**
 * Tells of what has failed since the last page.
 * @param {Document} page
 */
export function notifyOfFailures(page) {
  const failed = failedIn(page);
  const more = failed - known;
  known = failed;
  if (more <= 0 || !isNotifying()) return;
  // Open tabs tell of the same failure once.
  const notification = new Notification(`${failed} failed – paylink inspect`, {
    body: `${more} more than before. The queue page shows why.`,
    tag: `paylink-failed-${failed}`,
  });
  notification.addEventListener("click", () => {
    notification.close();
    focus();
    location.assign("/queue");
  });
}

function showChoice() {
  if (button === null) return;
  const isBlocked = Notification.permission === "denied";
  button.setAttribute("aria-pressed", String(isNotifying()));
  button.title = isBlocked ? "This browser blocks notifications of this page." : "";
  button.toggleAttribute("disabled", isBlocked);
  button.hidden = false;
}

async function changeChoice() {
  const isOn = isNotifying();
  localStorage.setItem(CHOICE, isOn ? "off" : "on");
  if (!isOn) await Notification.requestPermission();
  showChoice();
}

if (button !== null && "Notification" in window) {
  showChoice();
  button.addEventListener("click", () => void changeChoice());
}
