CREATE SCHEMA paylink;
CREATE TABLE paylink.arrivals (
    seq bigint NOT NULL,
    event text NOT NULL,
    id text NOT NULL,
    received_at bigint NOT NULL
);
ALTER TABLE paylink.arrivals ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME paylink.arrivals_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE paylink.claims (
    event text NOT NULL,
    owner text NOT NULL,
    until bigint NOT NULL
);
CREATE TABLE paylink.events (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    uti text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    received_at bigint NOT NULL,
    outcome text NOT NULL,
    reference text NOT NULL,
    code text NOT NULL,
    warnings text NOT NULL,
    details text NOT NULL,
    method text NOT NULL,
    scheme text NOT NULL,
    authority text NOT NULL,
    target text NOT NULL,
    headers text NOT NULL,
    trailers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE paylink.events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME paylink.events_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE paylink.forwarder (
    owner text NOT NULL,
    epoch bigint NOT NULL,
    expires bigint NOT NULL
);
CREATE TABLE paylink.forwards (
    seq bigint NOT NULL,
    event text NOT NULL,
    at bigint NOT NULL,
    target text NOT NULL,
    status integer NOT NULL,
    ms bigint NOT NULL,
    detail text NOT NULL
);
ALTER TABLE paylink.forwards ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME paylink.forwards_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE paylink.listeners (
    address text NOT NULL,
    bound text NOT NULL
);
CREATE TABLE paylink.queue (
    seq bigint NOT NULL,
    event text NOT NULL,
    received_at bigint NOT NULL,
    state text DEFAULT 'first'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due bigint DEFAULT 0 NOT NULL
);
ALTER TABLE paylink.queue ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME paylink.queue_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE paylink.rejections (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    received_at bigint NOT NULL,
    code text NOT NULL,
    status integer NOT NULL,
    detail text NOT NULL,
    checks text NOT NULL,
    method text,
    scheme text,
    authority text,
    target text,
    headers text,
    trailers text,
    body bytea
);
ALTER TABLE paylink.rejections ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME paylink.rejections_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE paylink.schema_version (
    version integer NOT NULL
);
INSERT INTO paylink.arrivals OVERRIDING SYSTEM VALUE VALUES (1, 'accepted', 'accepted again', 1795255200123);
INSERT INTO paylink.claims VALUES ('claimed', '3ef8de82-fae0-4685-9c09-cf000975b80f', 1795255260123);
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (1, 'genuine', 'uti-genuine', '\x58a2ef3e6c54a67855214cb3d29402fc416466c4b4a68c77ac54b2adad67098c', 1795255200123, 'APPROVED', 'INV-1', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[["X","y"]]', '\x7b22757469223a2238653266366134632d356237642d346430652d396135312d326636633166306237613131222c227472616e7354797065223a2253414c45222c227472616e73417070726f766564223a747275652c227472616e735061727469616c6c79417070726f766564223a66616c73652c227472616e7343616e63656c6c6564223a66616c73652c22616d6f756e745472616e73223a32352e352c22616d6f756e744772617475697479223a302c22616d6f756e74436173686261636b223a302c2263766d5369676e61747572655265717569726564223a66616c73652c2263766d50696e5665726966696564223a66616c73652c227472616e7343757272656e6379436f6465223a22474250222c227465726d696e616c4964223a2231323334353637383930222c226d65726368616e744964223a22303030303030303030303132333435222c22736f66747761726556657273696f6e223a22312e31322e30222c22726563656970744e756d626572223a22303030343137222c2272657472696576616c5265666572656e63654e756d626572223a22333331373030303030343137222c227061796d656e744964223a2239633662376435652d316632342d346130622d386133352d366131663664316232633364222c22726573706f6e7365436f6465223a223030222c227374616e223a22303030343137222c22617574686f7269736174696f6e436f6465223a22413142324333222c226d65726368616e74546f6b656e4964223a22746f6b5f3566346463633362356161373635643631643833323764656238383263663939222c226361726450616e223a222a2a2a2a2a2a2a2a2a2a2a2a31313131222c2263617264537461727444617465223a2232323031222c2263617264536368656d65223a2256495341222c226361726450616e53657175656e63654e756d626572223a223031222c226361726454797065223a22454d56222c22656d76416964223a224130303030303030303331303130222c22656d76547369223a2245383030222c22656d76547672223a2230303030303038303030222c22656d7643727970746f6772616d223a2230313032303330343035303630373038222c22656d7643727970746f6772616d54797065223a2241525143222c227265666572656e6365223a22494e562d323032332d3030303431372d613142326333443465222c226d65726368616e744e616d65223a22436166c3a9205061796c696e6b222c227472616e734461746554696d65223a22323032332d31312d31345432323a31333a31382e3030305a222c22637265617465644461746554696d65223a22323032332d31312d31345432323a31333a31392e3132335a222c226d65726368616e7453746f72654964223a34322c22737461747573223a22436f6d706c657465227d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (2, 'forged', 'uti-forged', '\x44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 1795255200123, 'APPROVED', 'INV-1', 'content_digest_mismatch', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits","content-digest":"the field has sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:, the body has sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b7d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (3, 'accepted', 'uti-accepted', '\xd7ea6f0148b9342862d2103b038594cf6f94efec8c62daff6a3c6e9b14969627', 1795255200123, 'APPROVED', 'INV-1', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b22757469223a227574692d6163636570746564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d31227d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (5, 'claimed', 'uti-claimed', '\xdb86f4a4f61edb39bf5c6a18cea7f2663ad8cd428bb2b8be48417be0f4a28c57', 1795255200123, 'APPROVED', 'INV-1', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b22757469223a227574692d636c61696d6564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d31227d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (6, 'failed', 'uti-failed', '\xa1da990047113d5971cdde18b3ebde3da9f0ed5c337c1fb67df490c8132ce6a3', 1795255200123, 'APPROVED', 'INV-9', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b22757469223a227574692d6661696c6564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d39227d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (7, 'retried', 'uti-retried', '\xd716c9e50a2e41f8a10d46c29b7e85eadfdc9ed655cf6898249ba436a46d0af2', 1795255200123, 'APPROVED', 'INV-9', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b22757469223a227574692d72657472696564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d39227d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (8, 'waits', 'uti-waits', '\x6eacf40f013eff56449247a2bc7378e2bf7837c695a41aef10fa72e0f7ba4c51', 1795255200123, 'APPROVED', 'INV-9', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b22757469223a227574692d7761697473222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d39227d');
INSERT INTO paylink.events OVERRIDING SYSTEM VALUE VALUES (9, 'waits too', 'uti-waits too', '\x6474e2f2cece95209e676463f0732fb1099c20c11e6ab5a60aca363051dc4f9b', 1795255200123, 'APPROVED', '', 'ok', '', '{"key":"the configured key","key-strength":"RSA of 2048 bits"}', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x7b22757469223a227574692d776169747320746f6f222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22227d');
INSERT INTO paylink.forwarder VALUES ('3ef8de82-fae0-4685-9c09-cf000975b80f', 1, 1795365007920);
INSERT INTO paylink.forwards OVERRIDING SYSTEM VALUE VALUES (1, 'accepted', 1795255200123, 'http://127.0.0.1:3000/', 200, 12, '');
INSERT INTO paylink.forwards OVERRIDING SYSTEM VALUE VALUES (2, 'failed', 1795255200123, 'http://127.0.0.1:3000/', 500, 12, '');
INSERT INTO paylink.forwards OVERRIDING SYSTEM VALUE VALUES (3, 'retried', 1795255200123, 'http://127.0.0.1:3000/', 500, 12, '');
INSERT INTO paylink.listeners VALUES ('https://merchant.example/hook', 'http://127.0.0.1:4100/');
INSERT INTO paylink.queue OVERRIDING SYSTEM VALUE VALUES (3, 'waits', 1795255200123, 'first', 0, 0);
INSERT INTO paylink.queue OVERRIDING SYSTEM VALUE VALUES (4, 'waits too', 1795255200123, 'first', 0, 0);
INSERT INTO paylink.queue OVERRIDING SYSTEM VALUE VALUES (1, 'failed', 1795255200123, 'failed', 1, 0);
INSERT INTO paylink.queue OVERRIDING SYSTEM VALUE VALUES (2, 'retried', 1795255200123, 'retry', 1, 1795364977927);
INSERT INTO paylink.rejections OVERRIDING SYSTEM VALUE VALUES (1, 'rejected', 1795255200123, 'signature_invalid', 401, 'no', '[{"check":"signature-value","ok":false,"detail":"no"}]', 'POST', 'https', 'merchant.example', '/webhooks/paylink?src=pl', '[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]', '[]', '\x01010101010101010101');
INSERT INTO paylink.rejections OVERRIDING SYSTEM VALUE VALUES (2, 'not http', 1795255200123, 'signature_invalid', 401, 'no', '[{"check":"signature-value","ok":false,"detail":"no"}]', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO paylink.schema_version VALUES (2);
SELECT pg_catalog.setval('paylink.arrivals_seq_seq', 1, true);
SELECT pg_catalog.setval('paylink.events_seq_seq', 9, true);
SELECT pg_catalog.setval('paylink.forwards_seq_seq', 3, true);
SELECT pg_catalog.setval('paylink.queue_seq_seq', 4, true);
SELECT pg_catalog.setval('paylink.rejections_seq_seq', 2, true);
ALTER TABLE ONLY paylink.arrivals
    ADD CONSTRAINT arrivals_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY paylink.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (event);
ALTER TABLE ONLY paylink.events
    ADD CONSTRAINT events_id_key UNIQUE (id);
ALTER TABLE ONLY paylink.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY paylink.events
    ADD CONSTRAINT events_uti_digest_key UNIQUE (uti, digest);
ALTER TABLE ONLY paylink.forwards
    ADD CONSTRAINT forwards_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY paylink.listeners
    ADD CONSTRAINT listeners_pkey PRIMARY KEY (address);
ALTER TABLE ONLY paylink.queue
    ADD CONSTRAINT queue_event_key UNIQUE (event);
ALTER TABLE ONLY paylink.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY paylink.rejections
    ADD CONSTRAINT rejections_pkey PRIMARY KEY (seq);
CREATE INDEX arrivals_event ON paylink.arrivals USING btree (event);
CREATE INDEX events_arrival ON paylink.events USING btree (received_at, seq) INCLUDE (outcome, reference);
CREATE INDEX forwards_event ON paylink.forwards USING btree (event, status);
CREATE INDEX queue_order ON paylink.queue USING btree (state, due, seq);
