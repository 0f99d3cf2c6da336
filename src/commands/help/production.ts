/** The text of `paylink help production`: how to run `listen` as a service of a machine or in a container. */
import type { Section } from "./sections.ts";

export const PRODUCTION: Readonly<Record<string, Section>> = {
  listen: {
    title: "listen in production",
    text: `\
paylink listen answers 200 once a webhook is verified and stored. Put it behind
your proxy or load balancer, and give the address that the service posts to as
--public-url: signatures are checked against that address, not against Host.
The proxy must not change the body or the headers that are signed.

200 means that the event is on disk. If it cannot be stored, the answer is 503
and the service sends it again. A second delivery of a record gets 200, is marked
as repeated, and is not forwarded again once your application has accepted it.

--admin serves /healthz, /readyz and /metrics (Prometheus). Keep that address
private. On SIGTERM /readyz answers 503 at once, and webhooks are still received
for the time of --drain. On SIGHUP keys and certificates are read again. The
exit code after SIGTERM is 143.`,
  },
  systemd: {
    title: "systemd: /etc/systemd/system/paylink.service",
    text: `\
[Unit]
Description=Receiver of payment webhooks
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/env paylink listen --json --port 4000 --key /etc/paylink/service.pem --public-url https://shop.example/webhooks --forward-to 3000/webhooks --admin 127.0.0.1:9100 --drain 20s
ExecReload=/bin/kill -HUP $MAINPID
# PAYLINK_DB and PGPASSWORD; root owns the file, with mode 0600.
EnvironmentFile=-/etc/paylink/env
Environment=PAYLINK_HOME=%S/paylink
StateDirectory=paylink
DynamicUser=yes
Restart=on-failure
SuccessExitStatus=143
KillMode=mixed
# Longer than --drain and the 30 s that your application has to answer.
TimeoutStopSec=60

[Install]
WantedBy=multi-user.target`,
  },
  container: {
    title: "Containerfile",
    text: `\
FROM docker.io/library/node:24-slim
RUN npm install --global --omit=optional paylink
RUN install --directory --owner=node /data
USER node
ENV PAYLINK_HOME=/data
VOLUME /data
EXPOSE 4000 9100
STOPSIGNAL SIGTERM
ENTRYPOINT ["paylink", "listen", "--json", "--host", "0.0.0.0", "--port", "4000", "--admin", "0.0.0.0:9100", "--drain", "20s"]
# Arguments of the container: --key /keys/service.pem --public-url https://…`,
  },
  probes: {
    title: "Probes, as Kubernetes spells them",
    text: `\
livenessProbe:
  httpGet: { path: /healthz, port: 9100 }
readinessProbe:
  httpGet: { path: /readyz, port: 9100 }
  periodSeconds: 5
  failureThreshold: 2
# --drain has to outlast two failed probes, and this time has to outlast --drain
# and the 30 s that your application has to answer.
terminationGracePeriodSeconds: 60`,
  },
  stores: {
    title: "Several receivers, and an application that is down",
    text: `\
Events are kept in a file of PAYLINK_HOME: keep it on a disk that survives the
container. Several receivers share one PostgreSQL instead:
  PAYLINK_DB=postgres://paylink@db.example/paylink
The password comes from PGPASSWORD or .pgpass, never from a flag. A connection
pool such as PgBouncer may stand in between, also with pool_mode = transaction.

With --forward-to, the service gets your application's answer, and delivers again
what was not accepted. With --ack stored, the service gets 200 as soon as the
event is stored, and paylink forwards by itself: first attempts in order of
arrival, and retries after the delays of --retry, also after a restart. Only one of
several receivers forwards at a time, and another takes over within 30 s if it ends.
After a crash an event may be forwarded twice: recognise it by its uti.
  paylink events list --failed                 lists the events that failed
  paylink events replay --all --failed --to 3000/webhooks
                                               sends them again`,
  },
};
