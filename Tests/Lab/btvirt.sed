# A fault of BlueZ's emulator of controllers, mended in emulator/btdev.c (5.82): both ends of a link
# have one handle, so it must be free at both, or a controller's second link loses its data.
/^\tconn1 = conn_new(dev, handle, type);$/i\
	while (queue_find(dev->conns, match_handle, UINT_TO_PTR(handle)) ||\
		queue_find(remote->conns, match_handle, UINT_TO_PTR(handle)))\
		handle++;
