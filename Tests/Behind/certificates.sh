# Sourced by cases whose server speaks TLS: authorities and certificates of servers in $LAB.

# server_authority [NAME]: NAME.pem (ca) and its key.
server_authority() {
    openssl req -x509 -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$LAB/${1:-ca}.key" \
        -out "$LAB/${1:-ca}.pem" -subj "/CN=${1:-ca}" -days 3650 -addext basicConstraints=critical,CA:TRUE \
        2>"$LAB/openssl.err"
}

# server_certificate NAME [DAYS [AUTHORITY]]: NAME.pem and NAME.key for 127.0.0.1. With 0 days it was
# valid for a day in 2020.
server_certificate() {
    local days=${2:-365} authority=$LAB/${3:-ca}
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$LAB/$1.key" \
        -out "$LAB/$1.csr" -subj "/CN=127.0.0.1" 2>>"$LAB/openssl.err"
    if [ "$days" = 0 ]; then
        mkdir -p "$LAB/ca.folder"
        : >"$LAB/ca.folder/index.txt"
        printf '%s\n' '[ca]' 'default_ca=one' '[one]' "database=$LAB/ca.folder/index.txt" \
            "new_certs_dir=$LAB/ca.folder" "rand_serial=yes" 'default_md=sha256' 'policy=any' 'copy_extensions=none' \
            '[any]' 'commonName=supplied' >"$LAB/ca.folder/openssl.cnf"
        openssl ca -batch -notext -config "$LAB/ca.folder/openssl.cnf" -cert "$authority.pem" \
            -keyfile "$authority.key" -in "$LAB/$1.csr" -out "$LAB/$1.pem" \
            -extfile <(echo "subjectAltName=IP:127.0.0.1") -startdate 20200101000000Z -enddate 20200102000000Z \
            2>>"$LAB/openssl.err"
    else
        openssl x509 -req -in "$LAB/$1.csr" -CA "$authority.pem" -CAkey "$authority.key" -CAcreateserial \
            -days "$days" -extfile <(echo "subjectAltName=IP:127.0.0.1") -out "$LAB/$1.pem" 2>>"$LAB/openssl.err"
    fi
}
