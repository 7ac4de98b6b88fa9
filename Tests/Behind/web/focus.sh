# While readings come, whoever types, tabs or reads is left alone: the times in the fields, the focus, and the place to
# which a table is scrolled.
site
web_up
agent_up
must "readings" more_readings 150 120
must "nobody is disturbed" browse focus.py "$(peer a)"
