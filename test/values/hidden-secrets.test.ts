/** What `--debug` and the sandbox's list of requests show of a message: no secret, and everything else as it was spelled. */
import { expect, it } from "vitest";
import { withoutSecrets } from "../../src/values/hidden-secrets.ts";

it.each([
  ['{"client_secret" : "hunter2", "a": 1.0}', '{"client_secret" : "[redacted]", "a": 1.0}'],
  ['{"apiKey":["hunter2",{"b":"]"}],"a":"b"}', '{"apiKey":"[redacted]","a":"b"}'],
  ['{"token":12345,"a":[true]}', '{"token":"[redacted]","a":[true]}'],
  ['{"client\\u005fsecret":"hunter2"}', '{"client\\u005fsecret":"[redacted]"}'],
  ['{"password":"hun\\"ter2"}', '{"password":"[redacted]"}'],
  ['{"password":"hunter2', '{"password":"[redacted]"'],
  ['{"secret":{"a":"hunter2"', '{"secret":"[redacted]"'],
  ['{"token":"","secret":null}', '{"token":"","secret":null}'],
  ['5" {"client_secret":"hunter2"}', '5" {"client_secret":"[redacted]"}'],
  ['{"url":"http://a:hunter2@b.example/","n":1}', '{"url":"http://a:[redacted]@b.example/","n":1}'],
  ['{"url":"http:\\/\\/a:hunter2@b.example\\/"}', '{"url":"http://a:[redacted]@b.example/"}'],
  ["client_id=a&client_secret=hunter2&x=1%202", "client_id=a&client_secret=[redacted]&x=1%202"],
  ['client_secret=hun"ter2&x=1', "client_secret=[redacted]&x=1"],
  ['client_secret="hunter2"', 'client_secret=[redacted]"'],
  ['{"next":"/links?token=hunter2","n":1}', '{"next":"/links?token=[redacted]","n":1}'],
  ['["/links?token=hunter2"]', '["/links?token=[redacted]"]'],
  ["client%5Fsecret=hunter2&token=", "client%5Fsecret=[redacted]&token="],
  ["/v1/links?key=hunter2&page=2", "/v1/links?key=[redacted]&page=2"],
  ["url=http%3A%2F%2Fa%3Ahunter2%40b.example", "url=http://a:[redacted]@b.example"],
  ['{"keys":[{"kty":"RSA","n":"AQAB"}]}', '{"keys":[{"kty":"RSA","n":"AQAB"}]}'],
])("hides what is secret in %s", (text, shown) => expect(withoutSecrets(text)).toBe(shown));
