CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL,
     uti TEXT NOT NULL,
     digest BLOB NOT NULL,
     received_at INTEGER NOT NULL,
     outcome TEXT NOT NULL,
     reference TEXT NOT NULL,
     code TEXT NOT NULL,
     warnings TEXT NOT NULL,
     details TEXT NOT NULL,
     method TEXT NOT NULL,
     scheme TEXT NOT NULL,
     authority TEXT NOT NULL,
     target TEXT NOT NULL,
     headers TEXT NOT NULL,
     trailers TEXT NOT NULL,
     body BLOB NOT NULL
   ) STRICT;
INSERT INTO events VALUES(1,'genuine','uti-genuine',X'58a2ef3e6c54a67855214cb3d29402fc416466c4b4a68c77ac54b2adad67098c',1795255200123,'APPROVED','INV-1','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[["X","y"]]',X'7b22757469223a2238653266366134632d356237642d346430652d396135312d326636633166306237613131222c227472616e7354797065223a2253414c45222c227472616e73417070726f766564223a747275652c227472616e735061727469616c6c79417070726f766564223a66616c73652c227472616e7343616e63656c6c6564223a66616c73652c22616d6f756e745472616e73223a32352e352c22616d6f756e744772617475697479223a302c22616d6f756e74436173686261636b223a302c2263766d5369676e61747572655265717569726564223a66616c73652c2263766d50696e5665726966696564223a66616c73652c227472616e7343757272656e6379436f6465223a22474250222c227465726d696e616c4964223a2231323334353637383930222c226d65726368616e744964223a22303030303030303030303132333435222c22736f66747761726556657273696f6e223a22312e31322e30222c22726563656970744e756d626572223a22303030343137222c2272657472696576616c5265666572656e63654e756d626572223a22333331373030303030343137222c227061796d656e744964223a2239633662376435652d316632342d346130622d386133352d366131663664316232633364222c22726573706f6e7365436f6465223a223030222c227374616e223a22303030343137222c22617574686f7269736174696f6e436f6465223a22413142324333222c226d65726368616e74546f6b656e4964223a22746f6b5f3566346463633362356161373635643631643833323764656238383263663939222c226361726450616e223a222a2a2a2a2a2a2a2a2a2a2a2a31313131222c2263617264537461727444617465223a2232323031222c2263617264536368656d65223a2256495341222c226361726450616e53657175656e63654e756d626572223a223031222c226361726454797065223a22454d56222c22656d76416964223a224130303030303030303331303130222c22656d76547369223a2245383030222c22656d76547672223a2230303030303038303030222c22656d7643727970746f6772616d223a2230313032303330343035303630373038222c22656d7643727970746f6772616d54797065223a2241525143222c227265666572656e6365223a22494e562d323032332d3030303431372d613142326333443465222c226d65726368616e744e616d65223a22436166c3a9205061796c696e6b222c227472616e734461746554696d65223a22323032332d31312d31345432323a31333a31382e3030305a222c22637265617465644461746554696d65223a22323032332d31312d31345432323a31333a31392e3132335a222c226d65726368616e7453746f72654964223a34322c22737461747573223a22436f6d706c657465227d');
INSERT INTO events VALUES(2,'forged','uti-forged',X'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',1795255200123,'APPROVED','INV-1','content_digest_mismatch','','{"key":"the configured key","key-strength":"RSA of 2048 bits","content-digest":"the field has sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:, the body has sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b7d');
INSERT INTO events VALUES(3,'accepted','uti-accepted',X'd7ea6f0148b9342862d2103b038594cf6f94efec8c62daff6a3c6e9b14969627',1795255200123,'APPROVED','INV-1','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b22757469223a227574692d6163636570746564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d31227d');
INSERT INTO events VALUES(5,'claimed','uti-claimed',X'db86f4a4f61edb39bf5c6a18cea7f2663ad8cd428bb2b8be48417be0f4a28c57',1795255200123,'APPROVED','INV-1','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b22757469223a227574692d636c61696d6564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d31227d');
INSERT INTO events VALUES(6,'failed','uti-failed',X'a1da990047113d5971cdde18b3ebde3da9f0ed5c337c1fb67df490c8132ce6a3',1795255200123,'APPROVED','INV-9','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b22757469223a227574692d6661696c6564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d39227d');
INSERT INTO events VALUES(7,'retried','uti-retried',X'd716c9e50a2e41f8a10d46c29b7e85eadfdc9ed655cf6898249ba436a46d0af2',1795255200123,'APPROVED','INV-9','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b22757469223a227574692d72657472696564222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d39227d');
INSERT INTO events VALUES(8,'waits','uti-waits',X'6eacf40f013eff56449247a2bc7378e2bf7837c695a41aef10fa72e0f7ba4c51',1795255200123,'APPROVED','INV-9','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b22757469223a227574692d7761697473222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22494e562d39227d');
INSERT INTO events VALUES(9,'waits too','uti-waits too',X'6474e2f2cece95209e676463f0732fb1099c20c11e6ab5a60aca363051dc4f9b',1795255200123,'APPROVED','','ok','','{"key":"the configured key","key-strength":"RSA of 2048 bits"}','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'7b22757469223a227574692d776169747320746f6f222c227472616e73417070726f766564223a747275652c227472616e7343616e63656c6c6564223a66616c73652c227265666572656e6365223a22227d');
CREATE TABLE arrivals (
     event TEXT NOT NULL,
     id TEXT NOT NULL,
     received_at INTEGER NOT NULL
   ) STRICT;
INSERT INTO arrivals VALUES('accepted','accepted again',1795255200123);
CREATE TABLE forwards (
     event TEXT NOT NULL,
     at INTEGER NOT NULL,
     target TEXT NOT NULL,
     status INTEGER NOT NULL,
     ms INTEGER NOT NULL,
     detail TEXT NOT NULL
   ) STRICT;
INSERT INTO forwards VALUES('accepted',1795255200123,'http://127.0.0.1:3000/',200,12,'');
INSERT INTO forwards VALUES('failed',1795255200123,'http://127.0.0.1:3000/',500,12,'');
INSERT INTO forwards VALUES('retried',1795255200123,'http://127.0.0.1:3000/',500,12,'');
CREATE TABLE rejections (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     code TEXT NOT NULL,
     status INTEGER NOT NULL,
     detail TEXT NOT NULL,
     checks TEXT NOT NULL,
     method TEXT ,
     scheme TEXT ,
     authority TEXT ,
     target TEXT ,
     headers TEXT ,
     trailers TEXT ,
     body BLOB
   ) STRICT;
INSERT INTO rejections VALUES(1,'rejected',1795255200123,'signature_invalid',401,'no','[{"check":"signature-value","ok":false,"detail":"no"}]','POST','https','merchant.example','/webhooks/paylink?src=pl','[["Host","merchant.example"],["Accept","application/json"],["Content-Type","application/json; charset=utf-8"],["Content-Digest","sha-256=:WKLvPmxUpnhVIUyz0pQC/EFkZsS0pox3rFSyra1nCYw=:"],["Content-Length","1043"],["Signature-Input","sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-type\");created=1700000000;keyid=\"test-key-rsa\""],["Signature","sig1=:e7886YfHYO56jZTBkXxzFlSJOMUWrS+VIx8xHJCz3OUxNRYaN/UKCmEQk0JH2H43g0+HVhJV7rkSyOBwIvXlOxKoJOQ3FQPXmhx1fGBMTUQzwhPilQvB7clQ79kFUndn7jyaUaTg5KqYHdY0GkRHzb9LLKv3NJbZ5UItH6Vq/ZqREaizpxIWLVQkRhsAHKPQEZrHm77KLa7UPZj6v01Bzg6UABuj4fkO8O1JqUw76q7FUE9fLFGJG225lPlOHAcm42+JoAwGtpDkw3vXPJkq7pqkv4M78YXB8UqDo7KOt789pcAU5MnTqzt6x6m1K21za1wsJKlDZKCg6m5ybNzTdw==:"]]','[]',X'01010101010101010101');
INSERT INTO rejections VALUES(2,'not http',1795255200123,'signature_invalid',401,'no','[{"check":"signature-value","ok":false,"detail":"no"}]',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE claims (
     event TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
INSERT INTO claims VALUES('claimed','94509a29-a79f-4038-8de8-b4bc6640371e',1795255260123);
CREATE TABLE listeners (
     address TEXT PRIMARY KEY,
     bound TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
INSERT INTO listeners VALUES('https://merchant.example/hook','http://127.0.0.1:4100/');
CREATE TABLE queue (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     event TEXT NOT NULL UNIQUE,
     received_at INTEGER NOT NULL,
     state TEXT NOT NULL DEFAULT 'first',
     attempts INTEGER NOT NULL DEFAULT 0,
     due INTEGER NOT NULL DEFAULT 0
   ) STRICT;
INSERT INTO queue VALUES(1,'failed',1795255200123,'failed',1,0);
INSERT INTO queue VALUES(2,'retried',1795255200123,'retry',1,1795255230123);
INSERT INTO queue VALUES(3,'waits',1795255200123,'first',0,0);
INSERT INTO queue VALUES(4,'waits too',1795255200123,'first',0,0);
CREATE TABLE forwarder (
     owner TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     expires INTEGER NOT NULL
   ) STRICT;
INSERT INTO forwarder VALUES('94509a29-a79f-4038-8de8-b4bc6640371e',1,1795255260123);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('events',9);
INSERT INTO sqlite_sequence VALUES('rejections',2);
INSERT INTO sqlite_sequence VALUES('queue',4);
CREATE UNIQUE INDEX events_same ON events (uti, digest);
CREATE UNIQUE INDEX events_id ON events (id);
CREATE INDEX events_arrival ON events (received_at, seq, outcome, reference);
CREATE INDEX arrivals_event ON arrivals (event);
CREATE INDEX forwards_event ON forwards (event, status);
CREATE INDEX queue_order ON queue (state, due, seq);
