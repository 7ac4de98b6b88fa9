// How things are written: elements, numbers, ages. Names of nodes and channels are foreign text: they
// only ever become text of elements, never markup.

const svgNames = new Set(["svg", "g", "path", "line", "circle", "text", "rect", "title"]);

// element("td", {class: "number"}, "1") — strings become text.
export function element(name, attributes = {}, ...children) {
  const made = svgNames.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Sets a text only where it is another: what does not change is not read out again.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// Makes what stands there into what was made, part by part: whatever is the same stays, and with it the
// focus, the place to which it is scrolled, and what is selected. What listens has to stay by itself.
export function become(there, made) {
  if (there.nodeName !== made.nodeName) { there.replaceWith(made); return; }
  if (there.nodeType === Node.TEXT_NODE) {
    if (there.data !== made.data) there.data = made.data;
    return;
  }
  for (const {name} of [...there.attributes]) if (!made.hasAttribute(name)) there.removeAttribute(name);
  for (const {name, value} of made.attributes) {
    if (there.getAttribute(name) !== value) there.setAttribute(name, value);
  }
  fill(there, ...made.childNodes);
}

// As `replaceChildren`, by `become`.
export function fill(box, ...children) {
  const there = [...box.childNodes];
  children.forEach((child, place) => (there[place] ? become(there[place], child) : box.append(child)));
  for (const one of there.slice(children.length)) one.remove();
}

export function setClass(target, name, isOn) {
  if (target.classList.contains(name) !== isOn) target.classList.toggle(name, isOn);
}

// Names as people look for them: board-2 before board-10.
export const compareNames = new Intl.Collator("en", {numeric: true}).compare;

export const byID = (id) => document.getElementById(id);

// "4 s", "12 min", "3 h", "5 d"
export function span(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

// With as many places as the sensor gives, as far as they fit; shorter where it is huge.
export function number(value, digits = 0) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e12 || Math.abs(value) < 1e-9)) {
    return value.toExponential(3).replace("-", "−");
  }
  const whole = Math.max(1, Math.ceil(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.max(0, Math.min(digits, 12, numberMax - whole))).replace("-", "−");
}

// Digits of a number.
const numberMax = 12;

// As in the terminal's tables: bytes go by 1,024, what the SI gives prefixes by 1,000, from a million on.
const binaryUnits = new Set(["B", "B/s"]);
const prefixedUnits = new Set(["Hz", "W", "J", "V", "A", "Pa", "VA", "VAs", "var", "vars", "Wh", "varh",
  "bit", "bit/s", "Ohm"]);

// How numbers up to this are written in a unit: over what, how it is called then, and with how many places.
export function scaleOf({unit, symbol, digits}, largest) {
  const size = Math.abs(largest);
  let [divisor, prefix] = [1, ""];
  if (binaryUnits.has(unit)) {
    for (const letter of ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]) {
      if (size >= divisor * 1024) [divisor, prefix] = [divisor * 1024, letter];
    }
  } else if (prefixedUnits.has(unit) && size >= 1e6) {
    [divisor, prefix] = [1e6, "M"];
    for (const letter of ["G", "T", "P"]) {
      if (size >= divisor * 1e3) [divisor, prefix] = [divisor * 1e3, letter];
    }
  }
  if (divisor === 1) return {divisor, symbol, digits};
  const number = size / divisor;
  return {divisor, symbol: prefix + symbol, digits: number < 10 ? 3 : number < 100 ? 2 : 1};
}

// A channel's newest value: its number and its unit.
export function measured(channel) {
  const {divisor, symbol, digits} = scaleOf(channel, channel.value);
  return [number(channel.value / divisor, digits), symbol];
}

export function withUnit(value, digits, symbol) {
  return number(value, digits) + (symbol ? ` ${symbol}` : "");
}

const reasons = {
  "timeout": "no answer", "absent": "not there", "failed": "failed", "checksum": "bad checksum",
  "malformed": "unreadable", "out-of-range": "out of range", "expired": "expired",
  "command-failed": "failed", "denied": "not allowed", "warming-up": "warming up",
  "frozen": "frozen", "busy": "busy",
};
export const reason = (name) => reasons[name] ?? name ?? "no value";

const gapReasons = {
  "memory-full": "memory full", "spool-full": "disk space full", "damaged": "damaged on disk",
  "power": "power cut or kill", "elsewhere": "went to another collector",
};
export const gapReason = (name) => gapReasons[name] ?? name;

export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  let value = count;
  while (value >= 1024 && place < units.length - 1) { value /= 1024; place += 1; }
  return `${value.toFixed(place ? 1 : 0)} ${units[place]}`;
}

export const count = (value) => (value ?? 0).toLocaleString("en");

const pad = (value) => String(value).padStart(2, "0");

// Local time: 14:05:09, with the day where that is wanted.
export function clock(milliseconds, wantsDay = true, wantsSeconds = true) {
  const time = new Date(milliseconds);
  const day = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  const hour = `${pad(time.getHours())}:${pad(time.getMinutes())}`
    + (wantsSeconds ? `:${pad(time.getSeconds())}` : "");
  return wantsDay ? `${day} ${hour}` : hour;
}

// The year 2200: the collector counts nanoseconds in 64 bits.
export const lastTime = Date.UTC(2200, 0);

// For <input type="datetime-local">.
export const inputTime = (milliseconds) => clock(milliseconds).replace(" ", "T");

// A table with a caption; cells are texts, or numbers as texts where the head says "#…".
export function table(caption, heads, rows) {
  const isNumber = heads.map((head) => head.startsWith("#"));
  return element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {},
      ...heads.map((head) => element("th", {scope: "col"}, head.replace("#", ""))))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, place) =>
      element("td", {class: isNumber[place] ? "number" : null}, String(cell ?? "–")))))));
}

// Asks the collector; null where it has nothing to say.
export async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await fetch(path + (query ? "?" + query : ""));
  if (!answer.ok) throw new Error((await answer.text()).trim() || `status ${answer.status}`);
  return answer.json();
}
