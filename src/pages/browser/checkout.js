/**
 * The checkout's script: it groups a card number while it is typed, has the server check each field that was left, and shows how
 * the payment goes. Everything works without it.
 */
import { renew, stayLive } from "./live.js";

/** Milliseconds that the tick is shown. */
const TICK = 800;
/** Milliseconds for an answer: something before the sandbox may hang. */
const PATIENCE = 30_000;

const DIGITS = /\d/g;

const TRY_AGAIN = "Try again: this form pays only once.";

/** What every page of the checkout has. */
const CHECKOUT = 'aside.banner[aria-label="Sandbox"] ~ main';

/** The fields of the open form that were left. @type {Set<string>} */
const left = new Set();
/** Numbers the requests, so that no answer to an earlier one is shown. */
let asked = 0;

/**
 * @param {number} milliseconds
 * @returns {Promise<undefined>}
 */
const passed = (milliseconds) => new Promise((done) => setTimeout(() => done(undefined), milliseconds));

/** @param {string} html */
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

/**
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} body
 */
async function post(form, body) {
  const reply = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
  return { url: reply.url, isRedirected: reply.redirected, page: parsed(await reply.text()) };
}

/**
 * What the form would send.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} [button]
 */
function entriesOf(form, button) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button))
    if (typeof value === "string") body.append(name, value);
  return body;
}

/**
 * Groups a number as it is printed on cards of its scheme, and names the scheme.
 * @param {HTMLInputElement} field
 */
function groupNumber(field) {
  /** @type {{ label: string, begins: string, groups: number[] }[]} */
  const schemes = JSON.parse(field.form?.dataset["schemes"] ?? "[]");
  const digits = field.value.match(DIGITS)?.join("") ?? "";
  const scheme = schemes.find(({ begins }) => new RegExp(begins).test(digits));
  const suffix = field.parentElement?.querySelector(".suffix");
  if (suffix instanceof Element) suffix.textContent = scheme?.label ?? "";
  // The server says what is wrong with other characters.
  if (/[^\d -]/.test(field.value)) return;
  const before = field.value.slice(0, field.selectionStart ?? 0).match(DIGITS)?.length ?? 0;
  let start = 0;
  const groups = (scheme?.groups ?? [4, 4, 4, 4, 3]).map((size) => digits.slice(start, (start += size)));
  field.value = [...groups, digits.slice(start)].filter((group) => group !== "").join(" ");
  let caret = 0;
  for (let seen = 0; seen < before; caret++) if (/\d/.test(field.value.charAt(caret))) seen++;
  field.setSelectionRange(caret, caret);
}

document.addEventListener("input", (event) => {
  const { target: field } = event;
  if (!(field instanceof HTMLInputElement)) return;
  if (field.id === "number") groupNumber(field);
  const isDeleting = event instanceof InputEvent && event.inputType.startsWith("delete");
  if (field.id === "expiry" && !isDeleting)
    field.value = field.value.replace(/^(0[1-9]|1[0-2])(\d{1,2})$/, "$1/$2");
});

document.addEventListener("change", ({ target: field }) => {
  if (field instanceof HTMLInputElement && field.form?.id === "payment") void check(field.form, field);
});

/**
 * Shows what is wrong in the fields that were left, by the rules of the server.
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} field
 */
async function check(form, field) {
  left.add(field.name);
  const number = ++asked;
  const body = entriesOf(form);
  for (const name of left) body.append("check", name);
  const answer = await post(form, body).catch(() => undefined);
  if (answer === undefined || number !== asked) return;
  for (const name of left) {
    const [own, next] = [form, answer.page].map((root) => root.querySelector(`.field:has([name="${name}"])`));
    if (own instanceof Element && next instanceof Element) renew(own, next);
  }
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement && submitter instanceof HTMLElement)) return;
  event.preventDefault();
  if (form.getAttribute("aria-busy") !== "true") void pay(form, submitter);
});

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} button
 */
async function pay(form, button) {
  asked++;
  const body = entriesOf(form, button);
  show(form, button, "working", "Please wait…");
  const answer = await Promise.race([post(form, body), passed(PATIENCE)]).catch(() => undefined);
  if (answer === undefined) return show(form, button, "", `The sandbox does not answer. ${TRY_AGAIN}`);
  const { url, isRedirected, page } = answer;
  // Also where a gateway redirects to a page of its own.
  if (page.querySelector(CHECKOUT) === null)
    return show(form, button, "", `Not the sandbox, but something before it answered. ${TRY_AGAIN}`);
  if (!isRedirected) return replace(page);
  if (page.querySelector(".mark.approved") !== null) {
    show(form, button, "done", page.querySelector("h1")?.textContent ?? "");
    await passed(TICK);
  }
  location.assign(url);
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} button
 * @param {"" | "working" | "done"} state
 * @param {string} text
 */
function show(form, button, state, text) {
  form.setAttribute("aria-busy", String(state !== ""));
  button.dataset["state"] = state;
  const progress = document.getElementById("progress");
  if (progress !== null) progress.textContent = text;
}

/**
 * Shows a page that the server has answered with: a form to correct, or another card to try.
 * @param {Document} page
 */
function replace(page) {
  const next = page.querySelector("main");
  if (next === null) return;
  left.clear();
  document.title = page.title;
  const focused = next.querySelector("[autofocus]");
  focused?.removeAttribute("autofocus");
  document.querySelector("main")?.replaceWith(next);
  if (focused instanceof HTMLElement) focused.focus();
  followPage();
}

let isLive = false;
/** A page with the delivery of a webhook keeps it up to date. */
function followPage() {
  if (isLive || document.querySelector("main[data-page]") === null) return;
  isLive = true;
  stayLive();
}
followPage();

// A page that Back shows again would be busy for ever.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
