#!/bin/sh
# Log lines as real servers write them: each server that is installed gets the same requests, and its logs become the files
# that crates/import/tests/real_logs.rs reads. Needs nginx, apache2, caddy and curl (Debian's packages), no rights beyond a user's.
set -eu
cd "$(dirname "$0")/.."
to=$PWD/crates/import/tests/logs
work=$(mktemp -d)
trap 'for pid in $(cat "$work"/*.pid 2>/dev/null); do kill "$pid" 2>/dev/null || true; done; sleep 1; rm -rf "$work"' EXIT
# Servers that are started by root read it as somebody else.
chmod 755 "$work"
mkdir -p "$work/www/users" "$work/www/caf$(printf '\303\251')"
printf 'seventeen' >"$work/www/users/17"
printf 'coffee' >"$work/www/caf$(printf '\303\251')/index.html"

# What every server is asked, at the port.
ask() {
    at=http://127.0.0.1:$1
    curl -s -o "$work/answer" --retry-connrefused --retry 50 --retry-delay 1 "$at/ready" -A ready
    curl -s -o "$work/answer" -A 'Mozilla/5.0 (X11; Linux x86_64) "quoted" back\slash' -e 'https://shop.example/start?q=1' "$at/users/17?token=s3cr3t"
    curl -s -o "$work/answer" -A curl/8 "$at/users/18"
    curl -s -o "$work/answer" -A curl/8 -d a=1 "$at/orders"
    curl -s -o "$work/answer" -A curl/8 -I "$at/users/17"
    curl -s -o "$work/answer" -A "K$(printf '\303\244')se" -e "$at/caf%C3%A9/" "$at/caf%C3%A9/?q=%22x%22"
    printf '\026\003\001\002\000\001\000\001\374\003\003 noise\r\n\r\n' | curl -s -o "$work/answer" -m 1 "telnet://127.0.0.1:$1" || true
}

if command -v nginx >/dev/null; then
    cat >"$work/nginx.conf" <<CONF
pid $work/nginx.pid;
error_log $work/nginx.error;
events {}
http {
    log_format main '\$remote_addr - \$remote_user [\$time_local] "\$request" '
                    '\$status \$body_bytes_sent "\$http_referer" '
                    '"\$http_user_agent" "\$http_x_forwarded_for"';
    log_format timed '\$remote_addr [\$msec] \$request_method \$request_uri \$status \$bytes_sent \$request_time "\$http_referer" "\$http_user_agent"';
    log_format json escape=json '{"time_iso8601":"\$time_iso8601","remote_addr":"\$remote_addr","request_method":"\$request_method",'
                    '"request_uri":"\$request_uri","status":\$status,"body_bytes_sent":\$body_bytes_sent,"request_time":\$request_time,'
                    '"http_referer":"\$http_referer","http_user_agent":"\$http_user_agent","http_host":"\$http_host"}';
    access_log $work/nginx-combined.log;
    access_log $work/nginx-main.log main;
    access_log $work/nginx-timed.log timed;
    access_log $work/nginx-json.log json;
    client_body_temp_path $work/nginx.body;
    proxy_temp_path $work/nginx.proxy;
    fastcgi_temp_path $work/nginx.fastcgi;
    uwsgi_temp_path $work/nginx.uwsgi;
    scgi_temp_path $work/nginx.scgi;
    server { listen 127.0.0.1:18081; root $work/www; }
}
CONF
    nginx -e "$work/nginx.error" -c "$work/nginx.conf"
    ask 18081
    nginx -e "$work/nginx.error" -c "$work/nginx.conf" -s quit
    sleep 1
    cp "$work"/nginx-*.log "$to"
    nginx -v
fi

if [ -x /usr/sbin/apache2 ]; then
    modules=/usr/lib/apache2/modules
    cat >"$work/apache.conf" <<CONF
ServerRoot $work
PidFile $work/apache.pid
ErrorLog $work/apache.error
ServerName shop.example
Listen 127.0.0.1:18082
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule dir_module $modules/mod_dir.so
DocumentRoot $work/www
# As Debian's apache2.conf has them.
LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" vhost_combined
LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined
LogFormat "%h %l %u %t \"%r\" %>s %O" common
# As Apache's documentation of mod_logio has it, and one with the time it took.
LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %I %O" combinedio
LogFormat "%h %l %u %t \"%r\" %>s %b %D" timed
CustomLog $work/apache-vhost-combined.log vhost_combined
CustomLog $work/apache-combined.log combined
CustomLog $work/apache-common.log common
CustomLog $work/apache-combinedio.log combinedio
CustomLog $work/apache-timed.log timed
CONF
    /usr/sbin/apache2 -f "$work/apache.conf" -k start
    ask 18082
    /usr/sbin/apache2 -f "$work/apache.conf" -k graceful-stop
    sleep 2
    cp "$work"/apache-*.log "$to"
    /usr/sbin/apache2 -v
fi

if command -v caddy >/dev/null; then
    cat >"$work/Caddyfile" <<CONF
{
    admin off
    auto_https off
    storage file_system $work/caddy
}
http://127.0.0.1:18083 {
    root * $work/www
    file_server
    log {
        output file $work/caddy.log
    }
}
CONF
    HOME=$work caddy run --config "$work/Caddyfile" --adapter caddyfile 2>"$work/caddy.error" &
    echo $! >"$work/caddy.pid"
    ask 18083
    kill "$(cat "$work/caddy.pid")"
    wait || true
    cp "$work/caddy.log" "$to/caddy.log"
    caddy version
fi
