// What is not as it should be: the store, what was dropped, what is missing, outputs, alarms.
import {ask, byID, bytes, clock, count, element, fill, gapReason, span, table} from "/words.js";

let gaps = null;
let asked = 0;

export function showHealth(fleet, isNew) {
  if (isNew || Date.now() - asked > 30e3) {
    asked = Date.now();
    ask("/api/gaps").then((answer) => { gaps = answer; }).catch(() => { gaps = null; })
      .finally(() => show(fleet));
  }
  show(fleet);
}

let shown = "";

function show(fleet) {
  const text = JSON.stringify([fleet.collector.storeFault, fleet.collector.drops, fleet.outputs,
    fleet.alarms, gaps?.total]) + Math.floor(Date.now() / 5e3);
  if (text === shown) return;
  shown = text;
  fill(byID("health"), collector(fleet.collector), ...[alarms(fleet), outputs(fleet), drops(fleet),
    missing()].map((one) => element("div", {class: "scroll"}, one)));
}

function collector(collector) {
  if (!collector.peer) return nothing("The collector has not answered yet.");
  const words = [`Collector ${collector.name || collector.peer}, version ${collector.version || "unknown"}`,
    `up ${span(collector.uptime)}`, `${count(collector.readings)} readings received`];
  if (collector.storeBytes !== null) words.push(`store ${bytes(collector.storeBytes)}`);
  if (collector.uncommitted) words.push(`${count(collector.uncommitted)} not yet stored`);
  return element("div", {}, element("p", {}, words.join(" · ")), collector.storeFault
    ? element("p", {class: "alarm"}, `The store accepts nothing: ${collector.storeFault}`) : null);
}

const nothing = (words) => element("p", {class: "notice"}, words);

function alarms({alarms}) {
  if (!alarms.length) return nothing("No alarms.");
  return table("Alarms", ["alarm", "node", "channel", "condition", "since", "until"],
    alarms.map((alarm) => [alarm.name, alarm.node, alarm.channel || "–", alarm.condition,
      clock(alarm.since), alarm.active ? "now" : alarm.until === null ? "–" : clock(alarm.until)]));
}

function outputs({outputs}) {
  if (!outputs.length) return nothing("No outputs.");
  return table("Outputs",
    ["output", "to", "state", "#waiting", "#lag", "#delivered", "#refused", "#lost", "last fault"],
    outputs.map((output) => [output.name, output.target, output.phase, count(output.waiting),
      span(output.lag), count(output.delivered), count(output.refused), count(output.lost),
      output.fault ?? "–"]));
}

function drops({collector}) {
  if (!collector.drops.length) return nothing("Nothing was dropped.");
  return table("Dropped", ["reason", "#count"],
    collector.drops.map((drop) => [drop.reason, count(drop.count)]));
}

function missing() {
  if (!gaps) return nothing("Gaps are not known: nothing is stored, or the store cannot be read.");
  if (!gaps.total) return nothing("No readings are missing.");
  const name = gaps.total > gaps.gaps.length
    ? `Missing readings (the last ${gaps.gaps.length} of ${count(gaps.total)} gaps)` : "Missing readings";
  const when = (time, none) => (time === null ? none : clock(time));
  // Of the end of a run that was lost nothing comes after.
  const end = (gap) => when(gap.to, gap.count === null ? "its end" : "–");
  return table(name, ["node", "after", "before", "#count", "reason", "run", "#from number"],
    gaps.gaps.toReversed().map((gap) => [gap.node, when(gap.from, "the first"), end(gap),
      gap.count === null ? "unknown" : count(gap.count), gapReason(gap.reason), gap.run, gap.first]));
}
