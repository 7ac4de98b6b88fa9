# For BlueZ's emulator of controllers, emulator/btdev.c (5.82).
#
# A fault, mended: both ends of a link have one handle, so it must be free at both, or a
# controller's second link loses its data.
/^\tconn1 = conn_new(dev, handle, type);$/i\
	while (queue_find(dev->conns, match_handle, UINT_TO_PTR(handle)) ||\
		queue_find(remote->conns, match_handle, UINT_TO_PTR(handle)))\
		handle++;
# What real controllers have and this one has not: a limit of links, $BTVIRT_LINKS. One that has
# them all refuses (Connection Limit Exceeded); one that is asked then does not answer.
/^static void le_conn_complete(/i\
static uint8_t links_full(struct btdev *dev, struct btdev *remote)\
{\
	const char *text = getenv("BTVIRT_LINKS");\
	unsigned int most = text ? atoi(text) : 1000;\
	if (queue_length(dev->conns) >= most)\
		return 0x09;\
	return queue_length(remote->conns) >= most ? 0x3e : 0;\
}
s/^\t\tle_conn_complete(dev, cmd, 0);$/\t\tle_conn_complete(dev, cmd, links_full(dev, remote));/
s/^\t\t\tle_ext_conn_complete(dev, cmd, ext_adv, 0);$/\t\t\tle_ext_conn_complete(dev, cmd, ext_adv, links_full(dev, remote));/
# Nor does it tell anybody that a controller with links was reset, so that the others' links stay for
# ever: real ones time out (Connection Timeout).
/^static void btdev_reset(struct btdev \*btdev)$/i\
static void disconnect_complete(struct btdev *dev, uint16_t handle,\
					uint8_t status, uint8_t reason);\
static void conn_lost(void *data, void *user_data)\
{\
	struct btdev_conn *conn = data;\
	if (conn->link)\
		disconnect_complete(conn->link->dev, conn->link->handle, 0, 0x08);\
}
/^\tqueue_remove_all(btdev->conns, NULL, NULL, conn_remove);$/i\
	queue_foreach(btdev->conns, conn_lost, NULL);
