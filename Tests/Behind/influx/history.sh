# A server that comes days later gets what the store has; its database is made.
site
collector_up
agent_up
must "readings without any output" more_readings 60
agent_down
collector_down
collector_config "$(influx_output ', measurement: "greenhouse air, 1=2"')"
collector_again
must "the fault is told once" until_true 60 says "influx.*Connection refused"
influx_up
must "the server has what the store has" becomes_same 90 values influx_values 'greenhouse air, 1=2'
must "it was told once" says_once "influx.*Connection refused"
must "nothing waits" until_true 30 output_is influx waiting 0
