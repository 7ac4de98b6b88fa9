// A chart of stored windows: a line of means in a band from least to greatest. Drawn as SVG.
import {clock, element, lastTime, number} from "/words.js";

// At the sides as much as the numbers of the axes need, or this without one.
const margin = {top: 26, bottom: 30};
const noAxis = 18;
const minute = 60e3;
const year = 31536000;
const steps = [1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 2592000,
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((years) => years * year)];

// About `most` round numbers from least to greatest.
export function ticks(least, greatest, most) {
  const size = greatest - least;
  if (!(size > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(size / most));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => size / one <= most);
  const first = Math.ceil(least / step - 1e-9);
  const result = [];
  for (let place = first; place * step <= greatest + step * 1e-9; place += 1) result.push(place * step);
  return result;
}

// Full minutes, hours, days of local time.
function timeTicks(from, to, most) {
  const step = (steps.find((one) => (to - from) / 1e3 / one <= most) ?? 2000 * year) * 1e3;
  const zone = new Date(from).getTimezoneOffset() * minute;
  const result = [];
  for (let time = Math.ceil((from - zone) / step) * step + zone; time <= to; time += step) result.push(time);
  return {times: result, step};
}

export class Chart {
  // `zoom(from, to)` is called with what was chosen, `reset()` to go back.
  constructor(box, zoom, reset) {
    this.box = box;
    this.zoom = zoom;
    this.reset = reset;
    this.series = [];
    this.missing = [];
    this.svg = element("svg", {tabindex: "0", role: "img"});
    box.replaceChildren(this.svg);
    new ResizeObserver(() => this.draw()).observe(box);
    this.listen();
  }

  // series: [{name, colour, unit, symbol, digits, points, step}]; missing: [{from, to, words}]
  show(series, from, to, label, missing = []) {
    Object.assign(this, {series, from, to, missing});
    this.svg.setAttribute("aria-label", label);
    this.draw();
  }

  x(time) {
    return this.left + ((time - this.from) / (this.to - this.from)) * this.width;
  }

  time(x) {
    const part = Math.min(1, Math.max(0, (x - this.left) / this.width));
    return this.from + part * (this.to - this.from);
  }

  // One scale for all of a unit.
  scales() {
    const scales = new Map();
    const units = [...new Set(this.series.map((one) => one.unit))];
    for (const {unit, symbol, digits, points} of this.series) {
      const scale = scales.get(unit)
        ?? {place: units.indexOf(unit), least: Infinity, greatest: -Infinity, symbol, digits};
      for (const point of points) {
        if (point[2] === null) continue;
        scale.least = Math.min(scale.least, point[1]);
        scale.greatest = Math.max(scale.greatest, point[3]);
      }
      scales.set(unit, scale);
    }
    for (const scale of scales.values()) {
      if (scale.least > scale.greatest) [scale.least, scale.greatest] = [0, 1];
      const room = (scale.greatest - scale.least) * 0.06;
      // What never changes lies at another height in each unit.
      const flat = room > 0 ? 0 : (Math.abs(scale.least) * 0.02 || 2) / (units.length + 1);
      scale.least -= room || flat * (units.length - scale.place);
      scale.greatest += room || flat * (scale.place + 1);
      scale.y = (value) =>
        margin.top + (1 - (value - scale.least) / (scale.greatest - scale.least)) * this.height;
    }
    return scales;
  }

  draw() {
    if (!this.to || !this.box.clientWidth) return;
    this.height = Math.max(50, this.box.clientHeight - margin.top - margin.bottom);
    const scales = this.scales();
    this.units = scales;
    const axes = [...scales.values()].slice(0, 2).map((scale) => this.labels(scale));
    [this.left, this.right] = [0, 1].map((side) =>
      (axes[side] ? Math.max(...axes[side].map(([, text]) => text.length)) * 7 + 14 : noAxis));
    this.width = Math.max(50, this.box.clientWidth - this.left - this.right);
    this.mark = element("g");
    this.svg.replaceChildren(...this.timeAxis(), ...this.gaps(), ...axes.flatMap((labels, side) =>
      this.valueAxis(labels, side, [...scales.values()][side])),
    ...this.series.flatMap((one) => this.line(one, scales.get(one.unit))), this.mark);
  }

  // Which axis a unit's lines go by, where there are several; `place` is how its lines are dashed.
  scaleWords(unit) {
    const scale = this.units?.get(unit);
    if (!scale) return {place: 0, words: ""};
    const {place, symbol, digits, least, greatest} = scale;
    const name = symbol || "no unit";
    if (this.units.size === 1) return {place, words: ""};
    if (place < 2) return {place, words: `(${place ? "right" : "left"} axis, ${name})`};
    const span = `from ${number(least, digits + 1)} to ${number(greatest, digits + 1)} ${symbol}`;
    return {place, words: `(${span.trim()})`};
  }

  timeAxis() {
    const isLong = this.to - this.from > 86400e3;
    const {times, step} = timeTicks(this.from, this.to, Math.max(2, this.width / (isLong ? 90 : 66)));
    const text = (time) => (step >= year * 1e3 ? clock(time).slice(0, 4) : step >= 86400e3 ? clock(time).slice(5, 10)
      : isLong ? clock(time, true, false).slice(5)
        : clock(time, false, step < minute));
    return times.flatMap((time) => [
      element("line", {class: "grid", x1: this.x(time), x2: this.x(time), y1: margin.top,
        y2: margin.top + this.height}),
      element("text", {x: this.x(time), y: margin.top + this.height + 18, "text-anchor": "middle"},
        text(time))]);
  }

  // Where readings are missing for good: never too narrow to be seen.
  gaps() {
    const right = this.left + this.width;
    return this.missing.filter((gap) => gap.to >= this.from && gap.from <= this.to).map((gap) => {
      const x = Math.max(this.left, this.x(gap.from));
      return element("rect", {class: "gap", x, y: margin.top, height: this.height,
        width: Math.max(3, Math.min(right, this.x(gap.to)) - x)}, element("title", {}, gap.words));
    });
  }

  // Values and how they are written.
  labels(scale) {
    const values = ticks(scale.least, scale.greatest, Math.max(2, this.height / 45));
    const step = values.length > 1 ? values[1] - values[0] : 1;
    const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
    return values.map((value) => [value, number(value, digits)]);
  }

  // The first unit on the left, the second on the right; of more the list below tells.
  valueAxis(labels, side, scale) {
    const edge = this.left + this.width;
    const unit = element("text", {class: "unit", x: side ? this.box.clientWidth - 6 : 6, y: 15,
      "text-anchor": side ? "end" : "start"}, scale.symbol);
    return [unit, ...labels.flatMap(([value, text]) => [
      side === 0 ? element("line", {class: "grid", x1: this.left, x2: edge, y1: scale.y(value),
        y2: scale.y(value)}) : null,
      element("text", {x: side ? edge + 6 : this.left - 6, y: scale.y(value) + 4,
        "text-anchor": side ? "start" : "end"}, text),
    ].filter(Boolean))];
  }

  line({points, colour, step}, scale) {
    // A gap is where much more time passed than usually does between two points.
    const spacing = points.slice(1).map((point, place) => point[0] - points[place][0]).sort((a, b) => a - b);
    const usual = Math.max(step, spacing[Math.floor(spacing.length / 2)] ?? step) * 3;
    const parts = [];
    let last = null;
    for (const point of points) {
      if (point[0] + step < this.from || point[0] > this.to) continue;
      if (point[2] === null) { last = null; continue; }
      if (last === null || point[0] - last > usual) parts.push([]);
      parts.at(-1).push(point);
      last = point[0];
    }
    const at = (point, place) => `${this.x(point[0] + step / 2).toFixed(1)} ${scale.y(point[place]).toFixed(1)}`;
    return parts.flatMap((part) => {
      if (part.length === 1) {
        const [x, y] = at(part[0], 2).split(" ");
        return [element("circle", {class: `dot s${colour}`, cx: x, cy: y, r: 2.5, fill: "currentColor"})];
      }
      const band = `M${part.map((point) => at(point, 3)).join("L")}`
        + `L${part.toReversed().map((point) => at(point, 1)).join("L")}Z`;
      return [element("path", {class: `band s${colour}`, d: band, fill: "currentColor"}),
        element("path", {class: `mean s${colour} u${scale.place}`, stroke: "currentColor",
          d: `M${part.map((point) => at(point, 2)).join("L")}`})];
    });
  }

  // MARK: pointer and keys

  listen() {
    const {svg} = this;
    let begin = null;
    const place = (event) => event.clientX - svg.getBoundingClientRect().left;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      begin = place(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => this.point(begin, place(event)));
    // What a finger has touched stays to be read.
    svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.mark?.replaceChildren();
    });
    svg.addEventListener("pointercancel", () => { begin = null; this.mark?.replaceChildren(); });
    svg.addEventListener("pointerup", (event) => {
      const end = place(event);
      if (begin !== null && Math.abs(end - begin) > 6) {
        this.choose(this.time(Math.min(begin, end)), this.time(Math.max(begin, end)));
      } else {
        this.point(null, end);
      }
      begin = null;
    });
    svg.addEventListener("dblclick", () => this.reset());
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  choose(from, to) {
    const [begin, end] = [Math.round(from), Math.round(to)];
    if (end - begin < 5e3 || begin < 0 || end > lastTime) return;
    // What is there already is shown at once, the rest when it comes.
    Object.assign(this, {from: begin, to: end});
    this.draw();
    this.zoom(begin, end);
  }

  key(event) {
    const {from, to} = this;
    const size = to - from;
    const moves = {
      "+": () => this.choose(from + size / 4, to - size / 4),
      "=": () => this.choose(from + size / 4, to - size / 4),
      "-": () => this.choose(Math.max(0, from - size / 2), to + size / 2),
      "ArrowLeft": () => this.choose(from - size / 4, to - size / 4),
      "ArrowRight": () => this.choose(from + size / 4, to + size / 4),
      "0": () => this.reset(),
      "Escape": () => this.reset(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }

  // What is under the pointer, and what is chosen so far.
  point(begin, x) {
    if (!this.mark || !this.to) return;
    const time = this.time(x);
    const marks = [element("line", {class: "cross", x1: this.x(time), x2: this.x(time),
      y1: margin.top, y2: margin.top + this.height})];
    if (begin !== null && Math.abs(x - begin) > 3) {
      marks.push(element("rect", {class: "select", x: Math.min(begin, x), y: margin.top,
        width: Math.abs(x - begin), height: this.height}));
    }
    const words = [clock(time)];
    for (const {points, digits, symbol, step} of this.series) {
      const near = points.findLast((point) => point[0] <= time && time - point[0] < step * 3);
      if (near && near[2] !== null) words.push(`${number(near[2], digits + 1)} ${symbol}`.trim());
    }
    const gap = this.missing.find((one) => one.from <= time && time <= one.to);
    if (gap) words.push(`${gap.count ?? "readings"} missing`);
    const isLeft = x < this.left + this.width / 2;
    marks.push(element("text", {x: this.x(time) + (isLeft ? 6 : -6), y: margin.top + 12,
      "text-anchor": isLeft ? "start" : "end"}, words.join("  ·  ")));
    this.mark.replaceChildren(...marks);
  }
}
