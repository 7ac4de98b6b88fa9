// The nodes as cards. A card's rows are made when it comes into sight, and only those in sight are
// kept up to date.
import {ask, byID, compareNames, element, measured, number, reason, setClass, setText, span} from "/words.js";

const channelsShown = 8;
const rowHeight = 2.6;
const lineSpan = 3600e3;
const cards = new Map();
const inSight = new Set();
const wanted = [];
let asking = 0;

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const card = cards.get(entry.target.dataset.peer);
    if (!card) continue;
    if (entry.isIntersecting) {
      inSight.add(card);
      card.refresh();
    } else {
      inSight.delete(card);
    }
  }
}, {rootMargin: "200px"});

class Card {
  constructor(node, openChannel) {
    this.node = node;
    this.openChannel = openChannel;
    this.rows = new Map();
    this.linesAt = 0;
    this.isWhole = false;
    this.name = element("h3");
    this.age = element("span", {class: "age"});
    this.facts = element("p", {class: "facts"});
    this.list = element("ul", {class: "channels"});
    this.more = element("button", {class: "more", type: "button", hidden: true,
      onclick: () => { this.isWhole = true; this.refresh(); }});
    this.element = element("li", {class: "card", id: "node-" + node.peer},
      element("div", {class: "head"}, this.name, this.age), this.facts, this.list, this.more);
    this.element.dataset.peer = node.peer;
    observer.observe(this.element);
    this.reserve();
  }

  get shown() {
    return this.isWhole ? this.node.channels : this.node.channels.slice(0, channelsShown);
  }

  // Room for the rows before they are there, so that nothing jumps.
  reserve() {
    this.list.style.minHeight = `${this.shown.length * rowHeight}rem`;
    setText(this.name, this.node.name || this.node.peer);
    const hidden = this.node.channels.length - this.shown.length;
    this.more.hidden = hidden <= 0;
    if (hidden > 0) setText(this.more, `${hidden} more channels`);
  }

  refresh() {
    this.reserve();
    this.tick();
    this.writeFacts();
    const names = new Set(this.shown.map((channel) => channel.name));
    for (const [name, row] of this.rows) {
      if (!names.has(name)) { row.item.remove(); this.rows.delete(name); }
    }
    for (const channel of this.shown) this.refreshRow(channel);
    if (Date.now() - this.linesAt > 60e3) {
      this.linesAt = Date.now();
      wanted.push(this);
      askNext();
    }
  }

  tick() {
    const {node} = this;
    const seconds = node.heard === null ? null : (serverNow() - node.heard) / 1e3;
    setClass(this.element, "silent", !node.online);
    const text = seconds === null ? "never heard" : `${span(seconds)} ago`;
    setText(this.age, node.online ? text : `silent, ${text}`);
  }

  writeFacts() {
    const {node} = this;
    const facts = [node.role];
    if (node.board) facts.push(node.board);
    if (node.link) facts.push(node.link);
    if (node.hops !== null) facts.push(node.hops === 1 ? "1 hop" : `${node.hops} hops`);
    if (node.signal !== null) facts.push(`signal ${number(node.signal)} dBm`);
    for (const [key, value] of node.labels) facts.push(`${key} ${value}`);
    if (node.lost) facts.push(`${node.lost} lost`);
    const text = facts.join(" · ");
    const battery = node.battery === null ? "" : `battery ${number(node.battery)} %`;
    if (this.factsText === text + battery) return;
    this.factsText = text + battery;
    this.facts.replaceChildren(text);
    if (battery) {
      this.facts.append(" · ",
        element("span", {class: node.battery < 20 ? "low" : null}, battery));
    }
  }

  refreshRow(channel) {
    let row = this.rows.get(channel.name);
    if (!row) {
      const path = element("path");
      row = {
        path, name: element("span", {class: "name"}, channel.name),
        value: element("span", {class: "value"}),
      };
      row.item = element("li", {}, element("button", {type: "button",
        onclick: () => this.openChannel(this.node, channel.name)},
      row.name, element("svg", {class: "spark", viewBox: "0 0 100 24",
        preserveAspectRatio: "none", "aria-hidden": "true"}, path), row.value));
      this.rows.set(channel.name, row);
      this.list.append(row.item);
    }
    const isNull = channel.value === null;
    setClass(row.value, "null", isNull);
    const [text, symbol] = isNull ? [reason(channel.reason), ""] : measured(channel);
    if (row.text === text + symbol) return;
    row.text = text + symbol;
    row.value.replaceChildren(text);
    if (symbol) row.value.append(" ", element("span", {}, symbol));
  }

  async drawLines() {
    // The same minute for all pages: the collector reads its store once for all of them.
    const to = Math.ceil(serverNow() / 60e3) * 60e3;
    const answer = await ask("/api/lines", {node: this.node.peer, from: to - lineSpan, to});
    const stored = new Map(this.node.channels.map((one) => [one.storedName ?? one.name, one.name]));
    for (const {name, lines} of answer.channels) {
      const row = this.rows.get(stored.get(name));
      const points = (lines.at(-1)?.points ?? []).filter((point) => point[2] !== null);
      if (row && points.length > 1) row.path.setAttribute("d", sparkPath(points, to - lineSpan));
    }
  }
}

function sparkPath(points, from) {
  const means = points.map((point) => point[2]);
  const least = Math.min(...means);
  const size = Math.max(...means) - least;
  const step = lineSpan / 60;
  let path = "";
  let last = null;
  for (const [time, , mean] of points) {
    const x = ((time - from) / lineSpan) * 100;
    const y = size > 0 ? 22 - ((mean - least) / size) * 20 : 12;
    path += `${last !== null && time - last <= 5 * step ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    last = time;
  }
  return path;
}

// Two at a time: a telephone's line is narrow, and so is a board's disk.
function askNext() {
  while (asking < 2 && wanted.length) {
    const card = wanted.shift();
    if (!inSight.has(card)) { card.linesAt = 0; continue; }
    asking += 1;
    card.drawLines().catch(() => {}).finally(() => { asking -= 1; askNext(); });
  }
}

// The collector's clock, as far as its last word and ours say.
let offset = 0;
export const setServerTime = (utc) => { offset = utc - Date.now(); };
export const serverNow = () => Date.now() + offset;

const orders = {
  name: () => 0,
  age: (one, two) => (one.heard ?? 0) - (two.heard ?? 0),
  battery: (one, two) => (one.battery ?? 1e9) - (two.battery ?? 1e9),
  signal: (one, two) => (one.signal ?? 1e9) - (two.signal ?? 1e9),
};

// Puts the cards in order; makes and removes them.
export function showCards(fleet, openChannel) {
  const text = byID("filter").value.trim().toLowerCase();
  const nodes = [...fleet.nodes.values()].filter((node) => node.peer !== fleet.collector.peer
    && (!text || node.name.toLowerCase().includes(text) || node.peer.startsWith(text)
      || node.channels.some((channel) => channel.name.toLowerCase().includes(text))));
  const byName = (one, two) => compareNames(one.name, two.name) || (one.peer < two.peer ? -1 : 1);
  const order = orders[byID("order").value] ?? orders.name;
  nodes.sort((one, two) => order(one, two) || byName(one, two));
  const there = new Set(nodes.map((node) => node.peer));
  for (const [peer, card] of cards) {
    if (there.has(peer)) continue;
    observer.unobserve(card.element);
    card.element.remove();
    inSight.delete(card);
    cards.delete(peer);
  }
  // A card that is moved loses it.
  const focused = document.activeElement;
  let place = byID("cards").firstElementChild;
  for (const node of nodes) {
    let card = cards.get(node.peer);
    if (!card) {
      card = new Card(node, openChannel);
      cards.set(node.peer, card);
    }
    card.node = node;
    if (card.element === place) place = place.nextElementSibling;
    else byID("cards").insertBefore(card.element, place);
  }
  if (focused !== document.activeElement && focused.isConnected) focused.focus({preventScroll: true});
  byID("none").hidden = nodes.length > 0 || fleet.nodes.size > 1;
}

// What is new of these nodes, where it can be seen.
export function refreshCards(nodes) {
  for (const node of nodes) {
    const card = cards.get(node.peer);
    if (!card) continue;
    card.node = node;
    if (inSight.has(card)) card.refresh();
  }
}

export function tickCards() {
  for (const card of inSight) card.tick();
}
