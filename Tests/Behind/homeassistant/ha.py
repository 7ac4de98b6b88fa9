"""Home Assistant for the cases: sets one up, and asks it.

ha.py setup FOLDER BROKER_PORT     storage files of one that is set up, with MQTT; prints the token
ha.py state ENTITY                 its state and attributes, JSON
ha.py devices | entities | areas   what its registries have, a JSON array
ha.py classes FILE                 unit, device class and state class, a tab between, against its own tables

The token is in $HA_TOKEN, the server on port 8123 of this host.
"""
import asyncio
import base64
import hashlib
import hmac
import json
import os
import secrets
import sys
import time

URL = "http://127.0.0.1:8123"


def write(folder, name, version, data, minor=1):
    with open(f"{folder}/.storage/{name}", "w") as file:
        json.dump({"version": version, "minor_version": minor, "key": name, "data": data}, file)


def token(key, issuer):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    now = int(time.time())
    body = part(b'{"alg":"HS256","typ":"JWT"}') + "." + part(
        json.dumps({"iss": issuer, "iat": now, "exp": now + 86400 * 365}).encode())
    return body + "." + part(hmac.new(key.encode(), body.encode(), hashlib.sha256).digest())


def setup(folder, port):
    os.makedirs(f"{folder}/.storage", exist_ok=True)
    with open(f"{folder}/configuration.yaml", "w") as file:
        file.write("homeassistant: {name: Case, time_zone: UTC, unit_system: metric}\n"
                   "http: {server_host: 127.0.0.1, server_port: 8123}\napi:\nwebsocket_api:\nconfig:\n")
    key, refresh, user = secrets.token_hex(64), secrets.token_hex(16), secrets.token_hex(16)
    write(folder, "onboarding", 4, {"done": ["user", "core_config", "analytics", "integration"]})
    write(folder, "auth", 1, {
        "users": [{"id": user, "group_ids": ["system-admin"], "is_owner": True, "is_active": True, "name": "case",
                   "system_generated": False, "local_only": False}],
        "groups": [{"id": f"system-{name}", "name": name} for name in ("admin", "users", "read-only")],
        "credentials": [],
        "refresh_tokens": [{
            "id": refresh, "user_id": user, "client_id": None, "client_name": "case", "client_icon": None,
            "token_type": "long_lived_access_token", "created_at": "2026-01-01T00:00:00+00:00",
            "access_token_expiration": 315360000.0, "token": secrets.token_hex(64), "jwt_key": key,
            "last_used_at": None, "last_used_ip": None, "expire_at": None, "credential_id": None,
            "version": "2024.3.3"}]})
    write(folder, "core.config_entries", 1, {"entries": [{
        "entry_id": secrets.token_hex(16), "version": 1, "minor_version": 1, "domain": "mqtt", "title": "broker",
        "data": {"broker": "127.0.0.1", "port": int(port), "discovery": True, "discovery_prefix": "homeassistant"},
        "options": {}, "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user",
        "unique_id": None, "disabled_by": None}]})
    print(token(key, refresh))


async def state(entity):
    import aiohttp
    headers = {"Authorization": "Bearer " + os.environ["HA_TOKEN"]}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.get(f"{URL}/api/states" + (f"/{entity}" if entity else "")) as answer:
            if answer.status != 200:
                sys.exit(1)
            print(await answer.text())


async def registry(kind):
    import aiohttp
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(f"{URL}/api/websocket", max_msg_size=0) as socket:
            await socket.receive_json()
            await socket.send_json({"type": "auth", "access_token": os.environ["HA_TOKEN"]})
            await socket.receive_json()
            await socket.send_json({"id": 1, "type": f"config/{kind}_registry/list"})
            print(json.dumps((await socket.receive_json())["result"]))


def classes(path):
    from homeassistant.components.sensor import const
    from homeassistant.components.sensor.const import (
        DEVICE_CLASS_STATE_CLASSES, DEVICE_CLASS_UNITS, SensorDeviceClass, SensorStateClass)
    # Since 2025 it spells the micro sign as a Greek letter, and takes both.
    ambiguous = getattr(const, "AMBIGUOUS_UNITS", {})
    wrong = 0
    for line in open(path, encoding="utf-8"):
        unit, device, kind = line.rstrip("\n").split("\t")
        good = SensorStateClass(kind) is not None
        if device:
            device = SensorDeviceClass(device)
            unit = ambiguous.get(unit, unit) or None
            good = unit in DEVICE_CLASS_UNITS[device] and kind in DEVICE_CLASS_STATE_CLASSES[device]
        if not good:
            wrong += 1
            print("not so in Home Assistant:", line.rstrip("\n"))
    sys.exit(wrong > 0)


match sys.argv[1:]:
    case ["setup", folder, port]: setup(folder, port)
    case ["state", *entity]: asyncio.run(state(entity[0] if entity else None))
    case ["devices" | "entities" | "areas" as kind]:
        asyncio.run(registry({"devices": "device", "entities": "entity", "areas": "area"}[kind]))
    case ["classes", path]: classes(path)
