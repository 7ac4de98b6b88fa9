// The mesh as a picture: the collector in the middle, every node on the ring of its hops, next to the
// one it is reached through. The same links always give the same picture.
import {byID, element, fill, number, table} from "/words.js";
import {Zoom} from "/zoom.js";

// Between rings, between the rows of one that is too full, and between two nodes of a row.
const ring = 130;
const row = 46;
const room = 64;

// The cheapest ways from the collector: for each node its predecessor and its ring.
function ways(root, links) {
  const next = new Map();
  for (const link of links) {
    for (const [from, to] of [[link.from, link.to], [link.to, link.from]]) {
      if (!next.has(from)) next.set(from, []);
      next.get(from).push([to, Math.max(1, link.cost)]);
    }
  }
  const found = new Map([[root, {cost: 0, ring: 0, via: null}]]);
  const open = new Set([root]);
  while (open.size) {
    let here = null;
    for (const peer of open) {
      const better = here === null || found.get(peer).cost < found.get(here).cost
        || (found.get(peer).cost === found.get(here).cost && peer < here);
      if (better) here = peer;
    }
    open.delete(here);
    const way = found.get(here);
    for (const [peer, cost] of (next.get(here) ?? []).sort()) {
      const known = found.get(peer);
      if (known && known.cost <= way.cost + cost) continue;
      found.set(peer, {cost: way.cost + cost, ring: way.ring + 1, via: here});
      open.add(peer);
    }
  }
  return found;
}

// Angles by the number of leaves, so that branches do not cross.
function places(root, peers, links) {
  const found = ways(root, links);
  const children = new Map();
  for (const peer of [...found.keys()].sort()) {
    const via = found.get(peer).via;
    if (via !== null) children.set(via, [...(children.get(via) ?? []), peer]);
  }
  const outer = [...found.values()].reduce((most, way) => Math.max(most, way.ring), 0) + 1;
  const lost = peers.filter((peer) => !found.has(peer)).sort();
  const leaves = new Map();
  const countLeaves = (peer) => {
    const below = children.get(peer) ?? [];
    const sum = below.length ? below.reduce((all, one) => all + countLeaves(one), 0) : 1;
    leaves.set(peer, sum);
    return sum;
  };
  const total = countLeaves(root) + lost.length;
  const rings = spaces(outer, [...found.values()].map((way) => way.ring), lost.length);
  const placed = new Map([[root, {x: 0, y: 0}]]);
  // As wide as the window is: a telephone stands upright.
  const wide = byID("mesh").clientWidth < 600 ? 0.75 : 1.35;
  const put = (peer, place, angle) => {
    const {radius, rows} = rings[place];
    rings[place].next = (rings[place].next + 1) % rows;
    const distance = radius + rings[place].next * row;
    placed.set(peer, {x: Math.cos(angle) * distance * wide, y: Math.sin(angle) * distance});
  };
  const spread = (peer, begin) => {
    let angle = begin;
    for (const child of children.get(peer) ?? []) {
      const width = (leaves.get(child) / total) * 2 * Math.PI;
      put(child, found.get(child).ring, angle + width / 2);
      spread(child, angle);
      angle += width;
    }
    return angle;
  };
  let angle = spread(root, -Math.PI / 2);
  for (const peer of lost) {
    put(peer, outer, angle + Math.PI / total);
    angle += (2 * Math.PI) / total;
  }
  return {placed, found};
}

// How far out each ring is, and in how many rows its nodes stand, so that there is room for them.
function spaces(outer, taken, lostCount) {
  const counts = new Array(outer + 1).fill(0);
  for (const place of taken) counts[place] += 1;
  counts[outer] += lostCount;
  let radius = 0;
  return counts.map((count, place) => {
    if (place > 0) radius += ring;
    const here = {radius, rows: 1, next: -1};
    let free = (2 * Math.PI * radius) / room;
    while (place > 0 && free < count) {
      free += (2 * Math.PI * (radius + here.rows * row)) / room;
      here.rows += 1;
    }
    radius += (here.rows - 1) * row;
    return here;
  });
}

// Both directions between two nodes over one kind of link are one line.
function pairs(links) {
  const all = new Map();
  for (const link of links) {
    const [one, two] = link.from < link.to ? [link.from, link.to] : [link.to, link.from];
    const key = `${one} ${two} ${link.link}`;
    const known = all.get(key);
    const loss = Math.max(known?.loss ?? -1, link.loss ?? -1);
    all.set(key, {one, two, link: link.link, loss: loss < 0 ? null : loss,
      cost: Math.max(known?.cost ?? 0, link.cost), direct: link.direct || known?.direct});
  }
  return [...all.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, pair]) => pair);
}

const lossText = (loss) => (loss === null ? "" : `${number(loss, loss < 10 ? 1 : 0)} %`);
const lossClass = (loss) => (loss === null || loss < 5 ? "" : loss < 25 ? "lossy" : "bad");

let drawn = "";
let zoom = null;

// then: of another time, what those are called who were there; who was not is not drawn.
export function drawMesh(fleet, links, then = null) {
  const root = fleet.collector.peer;
  const nameNow = (peer) => (peer === root ? fleet.collector.name || "collector" : fleet.nodes.get(peer)?.name);
  const names = (peer) => then?.get(peer) || nameNow(peer) || peer.slice(0, 5) + "…";
  const peers = then ? [...new Set(links.flatMap((link) => [link.from, link.to]))] : [...fleet.nodes.keys()];
  const isSilent = (peer) => !then && peer !== root && fleet.nodes.get(peer)?.online === false;
  const text = JSON.stringify([byID("mesh").clientWidth < 600, links,
    [root, ...peers].map((peer) => [peer, names(peer), isSilent(peer)])]);
  if (text === drawn) return;
  drawn = text;
  const {placed, found} = places(root, peers, links);
  const all = pairs(links);
  const wantsCost = all.length <= 60;
  const lines = [];
  const costs = [];
  for (const pair of all) {
    const [from, to] = [placed.get(pair.one), placed.get(pair.two)];
    if (!from || !to) continue;
    const isUsed = found.get(pair.one)?.via === pair.two || found.get(pair.two)?.via === pair.one;
    const words = `${names(pair.one)} – ${names(pair.two)}: `
      + `${pair.direct ? pair.link || "link" : "over others"}, cost ${pair.cost}`
      + (pair.loss === null ? "" : `, loss ${lossText(pair.loss)}`);
    lines.push(element("line", {x1: from.x, y1: from.y, x2: to.x, y2: to.y,
      class: [pair.direct ? pair.link : "guessed", lossClass(pair.loss), isUsed ? "" : "spare"]
        .join(" ").trim()},
    element("title", {}, words)));
    if (wantsCost && isUsed) {
      costs.push(element("text", {class: "cost", "text-anchor": "middle",
        x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 + 4},
      `${pair.cost}${pair.loss ? " · " + lossText(pair.loss) : ""}`));
    }
  }
  const dots = [...placed].sort().map(([peer, {x, y}]) => {
    const kind = peer === root ? "collector" : isSilent(peer) ? "silent" : "";
    const name = names(peer);
    return element("g", {class: kind}, element("title", {}, name),
      element("circle", {cx: x, cy: y, r: peer === root ? 11 : 8}),
      element("text", {class: "name", x, y: y + 25, "text-anchor": "middle"},
        name.length > 22 ? name.slice(0, 21) + "…" : name));
  });
  const spots = [...placed.values()];
  const [xs, ys] = [spots.map((spot) => spot.x), spots.map((spot) => spot.y)];
  const whole = atLeast(byID("mesh").clientWidth / 1.25, {x: Math.min(...xs) - 90, y: Math.min(...ys) - 30,
    width: Math.max(...xs) - Math.min(...xs) + 180, height: Math.max(...ys) - Math.min(...ys) + 75});
  const label = `${placed.size} nodes, ${all.length} links; the table below has them all`;
  zoom ??= new Zoom(byID("mesh"));
  zoom.show(element("svg", {role: "img", "aria-label": label, tabindex: "0"},
    ...lines, ...costs, ...dots), whole);
  fill(byID("links"), table("Links", ["between", "and", "over", "#cost", "#loss"],
    all.map((pair) => [names(pair.one), names(pair.two),
      pair.direct ? pair.link || "–" : "others", pair.cost || "–",
      lossText(pair.loss) || "–"])));
  byID("mesh-legend").replaceChildren(...["solid: Ethernet", "dashed: Wi-Fi", "dotted: Bluetooth",
    "thin: through other nodes, not known which", "faint: not on a cheapest path",
    "figures: cost · loss", ...then ? [] : ["dashed circle: silent"]].map((words) => element("li", {}, words)));
}

// A mesh of three is not blown up to the size of the window.
function atLeast(width, box) {
  const more = Math.max(0, width - box.width);
  return {...box, x: box.x - more / 2, width: box.width + more};
}

byID("mesh-nearer").addEventListener("click", () => zoom?.by(1.5));
byID("mesh-farther").addEventListener("click", () => zoom?.by(1 / 1.5));
byID("mesh-whole").addEventListener("click", () => zoom?.reset());
