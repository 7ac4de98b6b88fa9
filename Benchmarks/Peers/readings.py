#!/usr/bin/env python3
"""readings.py FORMAT READINGS AGENTS: the readings that store-bench makes (Benchmarks/Store/main.swift), on standard
output, for other programs' stores: AGENTS agents with 20 channels, one reading a second each, oldest first.

  influx           InfluxDB's line protocol: a point for what an agent reads in a second, each channel a field; seconds
  influx-integers  the same in whole hundredths
  influx-tags      a point a reading, with the channel as a tag
  csv              time in UTC, agent, channel, value
  milliseconds     the same with the time in milliseconds since 1970
  expect           what a query of channel 7 of agent min(3, AGENTS) has to give, for the first day and for everything,
                   a line each: START END ROWS SUM MIN MAX, in seconds since 1970, END excluded, and hundredths
"""
import sys
from datetime import datetime, timedelta, timezone

CHANNELS = 20
START = 1_795_238_400
# As Swift reads `number &* 0x9E37_79B9 >> 7`: the shift comes first. Values repeat after 500 readings.
FACTOR = 0x9E37_79B9 >> 7
PERIOD = 500
FORMS = "influx", "influx-integers", "influx-tags", "csv", "milliseconds", "expect"


def hundredths(number):
    return 2_000 + number * FACTOR % 500


def decimal(number):
    return f"{hundredths(number) // 100}.{hundredths(number) % 100:02}"


def points(form, agent, first):
    """The lines of one agent and second, of which `first` is the first reading, with `@` for the time."""
    values = [decimal(first + index) for index in range(CHANNELS)]
    if form == "influx-integers":
        values = [f"{hundredths(first + index)}i" for index in range(CHANNELS)]
    if form in ("influx", "influx-integers"):
        fields = [f"channel{index + 1}={value}" for index, value in enumerate(values)]
        return [f"readings,agent={agent} {','.join(fields)} @\n"]
    line = {
        "influx-tags": "readings,agent={0},channel={1} value={2} @\n",
        "csv": "@,{0},{1},{2}\n",
        "milliseconds": "@,{0},{1},{2}\n",
    }[form]
    return [line.format(agent, index + 1, value) for index, value in enumerate(values)]


def moment(form, second):
    if form == "csv":
        return (datetime.fromtimestamp(START, timezone.utc) + timedelta(seconds=second)).strftime("%F %T+00")
    return str((START + second) * (1000 if form == "milliseconds" else 1))


def write(form, count, agents):
    ready = {}
    for second in range(count // (CHANNELS * agents)):
        time = moment(form, second)
        for agent in range(1, agents + 1):
            first = (second * agents + agent - 1) * CHANNELS
            key = agent, first % PERIOD
            if key not in ready:
                ready[key] = "".join(points(form, agent, first))
            sys.stdout.write(ready[key].replace("@", time))


def expect(count, agents):
    seconds, asked = count // (CHANNELS * agents), min(3, agents)
    for end in min(seconds, 86_400), seconds:
        values = [hundredths((second * agents + asked - 1) * CHANNELS + 6) for second in range(end)]
        print(START, START + end, len(values), sum(values), min(values), max(values))


def main():
    try:
        form, count, agents = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        if count < 1 or agents < 1 or form not in FORMS:
            raise ValueError
    except (IndexError, ValueError):
        sys.exit(__doc__.split(":")[0])
    if count % (CHANNELS * agents) > 0:
        sys.exit(f"readings.py: {count} readings are no whole seconds of {agents} agents with {CHANNELS} channels")
    if form == "expect":
        expect(count, agents)
    else:
        write(form, count, agents)


if __name__ == "__main__":
    main()
