// The page: keeps the fleet as the collector tells it, and shows one of four views of it.
import {refreshCards, serverNow, setServerTime, showCards, tickCards} from "/cards.js";
import {newestValues, drawChart, openChart, refreshChart} from "/channels.js";
import {showHealth} from "/health.js";
import {drawMesh} from "/mesh.js";
import {ask, byID, clock, element, fill, inputTime, lastTime, setClass, setText} from "/words.js";

const fleet = {collector: {peer: "", drops: []}, nodes: new Map(), links: [], outputs: [], alarms: []};
let view = "nodes";
let events = null;
let lastWord = 0;
let retry = null;
// Of those that are active; a site without power has hundreds.
const alarmsShown = 5;

// MARK: What the collector says

function takeAll(all) {
  Object.assign(fleet, all, {nodes: new Map(all.nodes.map((node) => [node.peer, node]))});
  heard();
  showCards(fleet, openChannel);
  refreshCards(fleet.nodes.values());
  showView();
}

function takeChange(change) {
  const {nodes, news, gone, ...rest} = change;
  Object.assign(fleet, rest);
  for (const node of nodes) fleet.nodes.set(node.peer, node);
  for (const peer of gone) fleet.nodes.delete(peer);
  const changed = [...nodes];
  for (const one of news) {
    const node = fleet.nodes.get(one.peer);
    if (!node) continue;
    node.heard = one.heard;
    node.readings = one.readings;
    for (const [place, value, utc, reason] of one.channels) {
      Object.assign(node.channels[place] ?? {}, {value, utc: utc ?? one.utc, reason});
    }
    changed.push(node);
  }
  heard();
  if (nodes.length || gone.length) showCards(fleet, openChannel);
  refreshCards(changed);
  if (view === "chart") refreshChart(fleet);
  else if (view !== "nodes") showView();
}

// The newest first.
const activeAlarms = () =>
  fleet.alarms.filter((alarm) => alarm.active).sort((one, two) => two.since - one.since);

function heard() {
  lastWord = Date.now();
  setServerTime(fleet.collector.utc);
  setText(byID("network"), fleet.collector.network);
  document.title = `${fleet.collector.network || "Rivulet"} · Rivulet`;
  const active = activeAlarms();
  const words = active.slice(0, alarmsShown).map((alarm) => `${alarm.name}: `
    + `${[alarm.node, alarm.channel, alarm.condition].filter(Boolean).join(" ")}, since ${clock(alarm.since)}`);
  const rest = active.length - words.length;
  fill(byID("alarms"), ...words.map((text) => element("p", {class: "alarm"}, text)),
    ...rest > 0 ? [element("p", {class: "alarm"}, element("a", {href: "#health"}, `${rest} more in Health`))] : []);
}

// MARK: The connection

function connect() {
  if (events || document.hidden) return;
  clearTimeout(retry);
  events = new EventSource("/api/events");
  events.addEventListener("fleet", (event) => takeAll(JSON.parse(event.data)));
  events.addEventListener("change", (event) => takeChange(JSON.parse(event.data)));
  events.addEventListener("error", () => {
    // The browser tries again by itself unless it was refused: then look now and again.
    if (events?.readyState !== EventSource.CLOSED) return;
    disconnect();
    retry = setTimeout(async () => {
      await ask("/api/fleet").then(takeAll).catch(() => {});
      connect();
    }, 10e3);
  });
}

function disconnect() {
  events?.close();
  events = null;
}

// A page that nobody sees takes no connection; browsers have only six for one server.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));

function tick() {
  const silence = Date.now() - lastWord;
  // A viewer only looks in, for a while perhaps.
  const nodes = [...fleet.nodes.values()]
    .filter((node) => node.peer !== fleet.collector.peer && node.role !== "viewer");
  const online = nodes.filter((node) => node.online).length;
  const isBroken = lastWord > 0 && silence > 20e3;
  setClass(byID("state"), "broken", isBroken);
  if (lastWord > 0) {
    setText(byID("state"), isBroken ? `no word from the collector since ${clock(lastWord, false)}`
      : `${online} of ${nodes.length} nodes online${fleet.collector.storeFault ? ", store broken" : ""}`);
  }
  if (view === "nodes") tickCards();
}

// For those who listen: what they look at, at most every ten seconds.
function announce() {
  const active = activeAlarms();
  const words = active.slice(0, alarmsShown).map((alarm) => `alarm ${alarm.name} ${alarm.node}`);
  if (active.length > words.length) words.push(`${active.length - words.length} more alarms`);
  if (view === "chart") words.push(...newestValues(fleet));
  setText(byID("announcer"), words.join("; "));
}

// MARK: Views

const openChannel = (node, channel) => {
  openChart([{peer: node.peer, channel}]);
};

function showView() {
  const [name] = location.hash.slice(1).split("?");
  const wanted = ["nodes", "chart", "mesh", "health"].includes(name) ? name : "nodes";
  const isNew = wanted !== view;
  view = wanted;
  for (const one of ["nodes", "chart", "mesh", "health"]) byID("view-" + one).hidden = one !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#" + view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (view === "mesh") showMesh();
  if (view === "health") showHealth(fleet, isNew);
  if (view === "chart") drawChart(fleet);
  return isNew;
}

// The time of the picture, in milliseconds, as the address has it; null: now, as it changes.
function meshTime() {
  const query = new URLSearchParams(location.hash.split("?").slice(1).join("?"));
  const at = Math.floor(Number(query.get("at")));
  return at > 0 && at <= lastTime ? at : null;
}

async function showMesh() {
  const at = meshTime();
  const linksNow = fleet.links.length;
  if (at === null) {
    byID("mesh-time").value = 0;
    if (document.activeElement !== byID("mesh-at")) byID("mesh-at").value = inputTime(serverNow());
    setText(byID("mesh-when"), `now: ${linksNow} links`);
    drawMesh(fleet, fleet.links);
    return;
  }
  byID("mesh-time").value = Math.max(-168, Math.min(0, Math.round((at - serverNow()) / 3600e3)));
  if (document.activeElement !== byID("mesh-at")) byID("mesh-at").value = inputTime(at);
  const then = await meshAt(at);
  if (meshTime() !== at || view !== "mesh") return;
  const words = !then ? "the collector does not answer" : !then.links.length ? "nothing is known"
    : `${then.links.length} links (now ${linksNow})`;
  setText(byID("mesh-when"), `${clock(at)}: ${words}`);
  drawMesh(fleet, then?.links ?? [], new Map(then?.nodes.map((node) => [node.peer, node.name])));
}

// What was does not change: asked once.
let meshThen = {at: null, answer: null};

async function meshAt(at) {
  if (meshThen.at !== at) {
    const answer = await ask("/api/mesh", {at}).catch(() => null);
    if (!answer) return null;
    meshThen = {at, answer};
  }
  return meshThen.answer;
}

function goToMesh(at) {
  history.replaceState(null, "", at === null ? "#mesh" : `#mesh?at=${at}`);
  showMesh();
}

byID("mesh-time").addEventListener("input", () => {
  const hours = Number(byID("mesh-time").value);
  goToMesh(hours === 0 ? null : Math.floor((serverNow() + hours * 3600e3) / 60e3) * 60e3);
});
byID("mesh-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const at = new Date(byID("mesh-at").value).getTime();
  byID("mesh-at").blur();
  if (at > 0) goToMesh(at);
});
byID("mesh-now").addEventListener("click", () => goToMesh(null));
byID("filter").addEventListener("input", () => showCards(fleet, openChannel));
byID("order").addEventListener("change", () => showCards(fleet, openChannel));
window.addEventListener("hashchange", () => { if (!showView()) return;
  byID("main").focus({preventScroll: true});
  scrollTo(0, 0);
});
setInterval(tick, 1000);
setInterval(announce, 10e3);
showView();
connect();
