// The view of one or more channels over time. What is shown stands in the address, so that it can be
// kept and passed on: #chart?c=PEER/CHANNEL&c=…&range=day, or &from=…&to=… in milliseconds.
import {serverNow} from "/cards.js";
import {Chart} from "/chart.js";
import {ask, byID, clock, compareNames, count, element, fill, gapReason, inputTime, lastTime, measured, number, reason,
  scaleOf, setText, table, withUnit} from "/words.js";

const ranges = {hour: 3600e3, day: 86400e3, week: 7 * 86400e3, month: 30 * 86400e3};
const channelsMax = 6;
let chart = null;
let shown = {channels: [], range: "hour", from: 0, to: 0};
let data = [];
let drawnAt = 0;
let turn = 0;
let knownWords = "";

// MARK: The address

function address({channels, range, from, to}) {
  const query = new URLSearchParams();
  for (const {peer, channel} of channels) query.append("c", `${peer}/${channel}`);
  if (range) query.set("range", range);
  else { query.set("from", from); query.set("to", to); }
  return "#chart?" + query;
}

const isSpan = (from, to) => from >= 0 && to <= lastTime && to - from >= 1000;

function readAddress() {
  const query = new URLSearchParams(location.hash.split("?").slice(1).join("?"));
  const channels = [...new Set(query.getAll("c"))].slice(0, channelsMax).map((text) => {
    const slash = text.indexOf("/");
    return {peer: text.slice(0, slash), channel: text.slice(slash + 1)};
  });
  const range = ranges[query.get("range")] ? query.get("range") : null;
  const [from, to] = ["from", "to"].map((name) => Math.floor(Number(query.get(name))));
  if (range || !isSpan(from, to)) return {channels, range: range ?? "hour", from: 0, to: 0};
  return {channels, range: null, from, to};
}

const go = (changes) => { location.hash = address({...shown, ...changes}); };

export function openChart(channels) {
  location.hash = address({channels, range: "hour"});
}

// MARK: Drawing

const find = (fleet, {peer, channel}) =>
  fleet.nodes.get(peer)?.channels.find((one) => one.name === channel);
const nameOf = (fleet, peer) => fleet.nodes.get(peer)?.name || peer;

// Draws what the address says. Called when the address changes, and when the fleet is known.
export function drawChart(fleet) {
  chart ??= new Chart(byID("chart"), (from, to) => go({range: null, from, to}),
    () => go({range: shown.range ?? "hour"}));
  // Until the fleet is known nobody has a name.
  if (!fleet.collector.peer) return;
  const wanted = readAddress();
  // A node may have come, or be called otherwise.
  const words = JSON.stringify(wanted.channels.map((one) =>
    [nameOf(fleet, one.peer), find(fleet, one)?.storedName]));
  const isSame = address(wanted) === address(shown) && data.length === wanted.channels.length
    && words === knownWords;
  if (address(wanted) !== address(shown)) isChoosing = false;
  shown = wanted;
  knownWords = words;
  offer(fleet);
  if (!isSame) load(fleet);
}

// New readings: every so often the newest part is fetched again.
export function refreshChart(fleet) {
  const every = shown.range ? Math.max(5e3, ranges[shown.range] / 500) : Infinity;
  if (Date.now() - drawnAt > every) load(fleet);
  writeLast(fleet);
}

// Full steps, so that all pages ask the same and the collector answers once.
function range() {
  if (!shown.range) return {from: shown.from, to: shown.to};
  const size = ranges[shown.range];
  const step = Math.max(5e3, size / 500);
  const to = Math.ceil(serverNow() / step) * step;
  return {from: to - size, to};
}

async function load(fleet) {
  drawnAt = Date.now();
  turn += 1;
  const mine = turn;
  const {from, to} = range();
  const points = Math.min(2000, Math.max(100, Math.round(byID("chart").clientWidth || 600)));
  const answers = await Promise.all(shown.channels.map(({peer, channel}) => {
    const stored = find(fleet, {peer, channel})?.storedName ?? channel;
    return ask("/api/chart", {node: peer, channel: stored, from, to, points})
      .catch((fault) => ({fault: fault.message, lines: []}));
  }));
  const missing = await missingReadings(fleet, from, to);
  if (mine !== turn) return;
  data = answers;
  const series = scaled(shown.channels.flatMap(({peer, channel}, place) =>
    answers[place].lines.map((line) => ({...line, peer, channel, colour: place,
      step: answers[place].step, name: `${nameOf(fleet, peer)} ${channel}`}))));
  const title = shown.channels.map(({peer, channel}) => `${nameOf(fleet, peer)} · ${channel}`);
  setText(byID("chart-title"), title.length === 1 ? title[0] : `${title.length} channels`);
  const summary = [`${clock(from)} to ${clock(to)}.`, ...series.map(summarise)];
  if (!series.some((one) => one.points.length)) summary.push("Nothing was stored in this span.");
  summary.push(...missing.filter((gap) => gap.isTold).map((gap) => gap.words));
  if (missing.length > missingTold) summary.push(`${missing.length - missingTold} more gaps are in Health.`);
  for (const {fault} of answers) if (fault) summary.push(fault);
  setText(byID("summary"), summary.join("\n"));
  chart.show(series, from, to, summary.join(" "), missing);
  list(fleet, from, to, series);
  fill(byID("table"), ...series.map(tabulate));
  writeTimes(from, to);
  for (const button of byID("ranges").children) {
    button.setAttribute("aria-pressed", String(button.dataset.range === shown.range));
  }
}

// Lines of one unit, all with the same prefix.
function scaled(series) {
  const largest = new Map();
  for (const {unit, points} of series) {
    const values = points.filter((point) => point[2] !== null)
      .map((point) => Math.max(Math.abs(point[1]), Math.abs(point[3])));
    largest.set(unit, values.reduce((most, one) => Math.max(most, one), largest.get(unit) ?? 0));
  }
  return series.map((line) => {
    const {divisor, symbol, digits} = scaleOf(line, largest.get(line.unit));
    const part = (value) => (value === null ? null : value / divisor);
    return {...line, symbol, digits, points: divisor === 1 ? line.points
      : line.points.map(([time, least, mean, greatest, ...counts]) =>
        [time, part(least), part(mean), part(greatest), ...counts])};
  });
}

// Somebody chooses another time, and has not said so yet.
let isChoosing = false;
// The address whose times stand there.
let timesOf = "";

// What somebody is at is left alone.
function writeTimes(from, to) {
  const isNew = timesOf !== address(shown);
  timesOf = address(shown);
  if (isChoosing || !isNew && byID("chosen").contains(document.activeElement)) return;
  byID("from").value = inputTime(from);
  byID("to").value = inputTime(to);
}

// What the nodes shown lost for good within a time: between the last reading before and the first
// after. Of many the longest are told.
const missingMax = 100;
const missingTold = 5;

async function missingReadings(fleet, from, to) {
  const peers = [...new Set(shown.channels.map((one) => one.peer))];
  const answers = await Promise.all(peers.map((peer) =>
    ask("/api/gaps", {node: peer}).catch(() => ({gaps: []}))));
  const all = answers.flatMap(({gaps}, place) => gaps
    .map((gap) => ({...gap, words: gapWords(gap, nameOf(fleet, peers[place])),
      from: gap.from ?? gap.to, to: gap.to ?? gap.from}))
    .filter((gap) => gap.from !== null && gap.to >= from && gap.from <= to));
  all.sort((one, two) => (two.to - two.from) - (one.to - one.from));
  return all.slice(0, missingMax).map((gap, place) => ({...gap, isTold: place < missingTold}));
}

function gapWords({from, to, count: missing, reason}, node) {
  const what = `${node}: ${missing === null ? "readings" : count(missing)} missing`;
  const when = from === null ? `before ${clock(to)}` : to === null ? `after ${clock(from)}`
    : `between ${clock(from)} and ${clock(to, clock(from).slice(0, 10) !== clock(to).slice(0, 10))}`;
  return `${what} ${when} (${gapReason(reason)}).`;
}

function summarise({name, symbol, digits, points}) {
  const good = points.filter((point) => point[2] !== null);
  const values = good.reduce((sum, point) => sum + point[4], 0);
  const nulls = points.reduce((sum, point) => sum + point[5], 0);
  if (!good.length) return `${name}: no values, ${nulls} readings without one.`;
  const mean = good.reduce((sum, point) => sum + point[2] * point[4], 0) / values;
  const least = Math.min(...good.map((point) => point[1]));
  const greatest = Math.max(...good.map((point) => point[3]));
  return `${name}: minimum ${withUnit(least, digits, symbol)}, mean `
    + `${withUnit(mean, digits + 1, symbol)}, maximum ${withUnit(greatest, digits, symbol)}; `
    + `${values} readings${nulls ? `, ${nulls} without a value` : ""}.`;
}

// At most fifty rows: points are put together.
function tabulate({name, symbol, digits, points}) {
  const size = Math.max(1, Math.ceil(points.length / 50));
  const rows = [];
  for (let begin = 0; begin < points.length; begin += size) {
    const part = points.slice(begin, begin + size);
    const good = part.filter((point) => point[2] !== null);
    const total = good.reduce((sum, point) => sum + point[4], 0);
    const of = (pick, values) => (values.length ? number(pick(...values), digits) : "–");
    rows.push([clock(part[0][0]), of(Math.min, good.map((point) => point[1])),
      total ? number(good.reduce((sum, point) => sum + point[2] * point[4], 0) / total, digits + 1) : "–",
      of(Math.max, good.map((point) => point[3])), total]);
  }
  return table(`${name}${symbol ? ` (${symbol})` : ""}`,
    ["from", "#least", "#mean", "#greatest", "#readings"], rows);
}

// MARK: The list below, with the newest values

// What stands there of each channel, by its name in the address.
const items = new Map();
const keyOf = ({peer, channel}) => `${peer}/${channel}`;

function list(fleet, from, to, series) {
  const box = byID("series");
  const keys = new Set(shown.channels.map(keyOf));
  for (const [key, {item}] of items) {
    if (keys.has(key)) continue;
    // Whoever removes some by keys goes on with the next.
    if (item.contains(document.activeElement)) {
      (item.nextElementSibling?.querySelector("button") ?? byID("add")).focus();
    }
    item.remove();
    items.delete(key);
  }
  shown.channels.forEach((one, place) => {
    const {peer, channel} = one;
    if (!items.has(keyOf(one))) items.set(keyOf(one), makeItem(one));
    const {item, name, scale, swatch, csv} = items.get(keyOf(one));
    if (box.children[place] !== item) box.insertBefore(item, box.children[place] ?? null);
    item.className = `s${place}`;
    setText(name, `${nameOf(fleet, peer)} · ${channel}`);
    const drawn = series.filter((line) => line.colour === place).map((line) => chart.scaleWords(line.unit));
    swatch.className = `swatch u${drawn[0]?.place ?? 0}`;
    setText(scale, drawn.map((one) => one.words).filter(Boolean).join(", "));
    const stored = find(fleet, one)?.storedName ?? channel;
    csv.href = `/export.csv?${new URLSearchParams({node: peer, channel: stored, from, to})}`;
  });
  writeLast(fleet);
}

function makeItem({peer, channel}) {
  const [name, value, scale] = [element("span"), element("strong"), element("span", {class: "scale"})];
  const swatch = element("span", {class: "swatch"});
  const csv = element("a", {download: "readings.csv", "aria-label": `CSV of ${channel}`}, "CSV");
  const isOther = (one) => one.peer !== peer || one.channel !== channel;
  const remove = element("button", {type: "button", "aria-label": `Remove ${channel}`,
    onclick: () => go({channels: shown.channels.filter(isOther)})}, "×");
  const item = element("li", {}, swatch, element("span", {class: "text"}, name, " ", value, " ", scale), csv, remove);
  return {item, name, value, scale, swatch, csv};
}

function lastText(fleet, one) {
  const channel = find(fleet, one);
  if (!channel) return "";
  return channel.value === null ? reason(channel.reason)
    : measured(channel).filter(Boolean).join(" ");
}

function writeLast(fleet) {
  for (const one of shown.channels) {
    const item = items.get(keyOf(one));
    if (item) setText(item.value, lastText(fleet, one));
  }
}

// For those who listen.
export function newestValues(fleet) {
  return shown.channels.map((one) => `${one.channel} ${lastText(fleet, one)}`);
}

// MARK: Controls

let offered = "";

function offer(fleet) {
  const nodes = [...fleet.nodes.values()].filter((node) => node.channels.length)
    .sort((one, two) => compareNames(one.name, two.name));
  const text = JSON.stringify(nodes.map((node) => [node.name, node.channels.map((one) => one.name)]));
  if (text === offered) return;
  offered = text;
  byID("add").replaceChildren(element("option", {value: ""}, "choose…"), ...nodes.map((node) =>
    element("optgroup", {label: node.name || node.peer}, ...node.channels.map((channel) =>
      element("option", {value: `${node.peer}/${channel.name}`}, channel.name)))));
}

byID("add").addEventListener("change", () => {
  const text = byID("add").value;
  const slash = text.indexOf("/");
  byID("add").value = "";
  if (slash < 0) return;
  const one = {peer: text.slice(0, slash), channel: text.slice(slash + 1)};
  if (shown.channels.length >= channelsMax) {
    setText(byID("summary"), `No more than ${channelsMax} channels at once.`);
    return;
  }
  go({channels: [...shown.channels, one]});
});
byID("ranges").addEventListener("click", (event) => {
  const {range: name} = event.target.dataset;
  if (name) go({range: name});
});
byID("chosen").addEventListener("input", () => { isChoosing = true; });
byID("chosen").addEventListener("submit", (event) => {
  event.preventDefault();
  const [from, to] = ["from", "to"].map((id) => new Date(byID(id).value).getTime());
  if (isSpan(from, to)) {
    isChoosing = false;
    go({range: null, from, to});
  } else setText(byID("summary"), "The end must be after the beginning.");
});
