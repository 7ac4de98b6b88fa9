# Sourced by cases with `trust: authority`: an authority made with the openssl program, as deploy/authority.md says.

# authority: its key and certificate in $LAB.
authority() {
    openssl req -x509 -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$LAB/authority.key" \
        -out "$LAB/authority.pem" -subj "/CN=lab" -days 3650 -addext basicConstraints=critical,CA:TRUE,pathlen:1 \
        2>"$LAB/openssl.err"
}

# sign NAME ROLE [DAYS]: NAME.csr becomes NAME.pem.
sign() {
    openssl x509 -req -in "$LAB/$1.csr" -CA "$LAB/authority.pem" -CAkey "$LAB/authority.key" -CAcreateserial \
        -days "${3:-365}" -extfile <(echo "subjectAltName=URI:rivulet:role:$2") -out "$LAB/$1.pem" 2>>"$LAB/openssl.err"
}

# keyed NAME ROLE TRUST [LINES]: a configuration that goes by keys, without a secret.
keyed() {
    config "$1" "$2" "${4:-}"
    sed -i "0,/^secret-file:.*/s||trust: $3|" "$LAB/$1.yaml"
}

# identity COMMAND NAME [ARGUMENT…]
identity() { "$BIN/rivulet" identity "$1" --config "$LAB/$2.yaml" "${@:3}"; }

# certify NAME ROLE [DAYS]: what a person does for a node.
certify() {
    identity request "$1" >"$LAB/$1.csr" && sign "$@" && identity import "$1" "$LAB/$1.pem" >"$LAB/$1.import"
}
