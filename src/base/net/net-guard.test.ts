import type { LookupAddress } from 'node:dns';
import { describe, expect, it, onTestFinished } from 'vitest';
import { neverAborted, startServer } from '#test/rest-tools.ts';
import { UndiciClient } from '#test/undici-client.ts';
import type { HttpClient, HttpClientOptions } from '../http/client.ts';
import { LeanClient } from '../http/lean-client.ts';
import { openReply, readText } from '../http/read-reply.ts';
import { BlockedAddressError, guardClient, NetGuard } from './net-guard.ts';

const strictGuard = new NetGuard([]);

describe('NetGuard.checkUrl with a literal address', () => {
  it.each([
    ['loopback', 'http://127.0.0.1/'],
    ['loopback, another', 'http://127.255.255.254/'],
    ['loopback, short', 'http://127.1/'],
    ['loopback, octal', 'http://0177.0.0.1/'],
    ['loopback, octal with many digits', 'http://00000177.1/'],
    ['loopback, hexadecimal', 'http://0x7f.0x0.0x0.0x1/'],
    ['loopback, one hexadecimal number', 'http://0x7f000001/'],
    ['loopback, one decimal number', 'http://2130706433/'],
    ['loopback, one octal number', 'http://017700000001/'],
    ['loopback, mixed', 'http://0x7f.1/'],
    ['loopback, trailing dot', 'http://127.0.0.1./'],
    ['loopback, hexadecimal and trailing dot', 'http://0x7f000001./'],
    ['loopback, full-width digits', 'http://１２７.0.0.1/'],
    ['loopback, ideographic full stops', 'http://127。0。0。1/'],
    ['loopback, circled digits', 'http://①②⑦.⓪.⓪.①/'],
    ['loopback, percent-encoded', 'http://%31%32%37.0.0.1/'],
    ['loopback, no slashes', 'http:127.0.0.1'],
    ['loopback, backslashes', 'http:\\\\127.0.0.1\\'],
    ['loopback, tab and line feed inside', 'http://127.0\t.0.\n1/'],
    ['loopback with a port', 'https://127.0.0.1:8443/'],
    ['loopback of IPv6', 'http://[::1]/'],
    ['loopback of IPv6, long', 'http://[0:0:0:0:0:0:0:1]/'],
    ['loopback, v4-mapped', 'http://[::ffff:127.0.0.1]/'],
    ['loopback, v4-mapped in hexadecimal', 'http://[::ffff:7f00:1]/'],
    ['loopback, v4-mapped, long', 'http://[0:0:0:0:0:ffff:7f00:1]/'],
    ['loopback, v4-compatible', 'http://[::127.0.0.1]/'],
    ['loopback, translated (SIIT)', 'http://[::ffff:0:127.0.0.1]/'],
    ['loopback through NAT64', 'http://[64:ff9b::127.0.0.1]/'],
    ['loopback through local NAT64', 'http://[64:ff9b:1::7f00:1]/'],
    ['loopback through 6to4', 'http://[2002:7f00:1::]/'],
    ['loopback through Teredo', 'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/'],
    ['unspecified', 'http://0.0.0.0/'],
    ['unspecified, short', 'http://0/'],
    ['this network', 'http://0.1.2.3/'],
    ['unspecified of IPv6', 'http://[::]/'],
    ['private 10', 'http://10.0.0.1/'],
    ['private 10, one decimal number', 'http://167772161/'],
    ['private 172.16', 'http://172.16.0.1/'],
    ['private 172.31', 'http://172.31.255.255/'],
    ['private 192.168', 'http://192.168.1.1/'],
    ['private, v4-mapped', 'http://[::ffff:192.168.1.1]/'],
    ['metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['metadata, one decimal number', 'http://2852039166/'],
    ['metadata, hexadecimal', 'http://0xa9.0xfe.0xa9.0xfe/'],
    ['metadata, v4-mapped', 'http://[::ffff:a9fe:a9fe]/'],
    ['metadata through NAT64', 'http://[64:ff9b::a9fe:a9fe]/'],
    ['metadata of containers', 'http://169.254.170.2/'],
    ['metadata of IPv6', 'http://[fd00:ec2::254]/'],
    ['metadata of Alibaba', 'http://100.100.100.200/'],
    ['metadata of Oracle', 'http://192.0.0.192/'],
    ['metadata of Google, IPv6', 'http://[fd20:ce::254]/'],
    ['credentials of Amazon EKS pods', 'http://169.254.170.23/'],
    ['credentials of Amazon EKS pods, IPv6', 'http://[fd00:ec2::23]/'],
    ['virtual public address of Azure', 'http://168.63.129.16/'],
    ['virtual public address of Azure, one decimal number', 'http://2822734096/'],
    ['virtual public address of Azure, v4-mapped', 'http://[::ffff:a83f:8110]/'],
    ['link-local of IPv6', 'http://[fe80::1]/'],
    ['site-local', 'http://[fec0::1]/'],
    ['unique local', 'http://[fc00::1]/'],
    ['carrier-grade NAT', 'http://100.64.0.1/'],
    ['carrier-grade NAT, end', 'http://100.127.255.255/'],
    ['multicast', 'http://224.0.0.1/'],
    ['multicast of IPv6', 'http://[ff02::1]/'],
    ['broadcast', 'http://255.255.255.255/'],
    ['broadcast, one decimal number', 'http://4294967295/'],
    ['reserved', 'http://240.0.0.1/'],
    ['benchmarking', 'http://198.18.0.1/'],
    ['benchmarking, end', 'http://198.19.255.255/'],
    ['benchmarking of IPv6', 'http://[2001:2::1]/'],
    ['documentation', 'http://192.0.2.1/'],
    ['documentation, another', 'http://203.0.113.7/'],
    ['documentation of IPv6', 'http://[2001:db8::1]/'],
    ['protocol assignments', 'http://192.0.0.8/'],
    ['6to4 relays', 'http://192.88.99.1/'],
    ['discard', 'http://[100::1]/'],
    ['segment routing', 'http://[5f00::1]/'],
    ['unassigned', 'http://[4000::1]/'],
    ['a user name', 'http://user@example.com/'],
    ['a password that looks like a host', 'http://example.com:80@10.0.0.1/'],
    ['a file', 'file:///etc/passwd'],
    ['gopher', 'gopher://example.com/'],
    ['ftp', 'ftp://example.com/'],
    ['data', 'data:text/plain,hi'],
    ['blob', 'blob:http://127.0.0.1/1'],
    ['javascript', 'javascript:1'],
  ])('rejects %s', (_what, url) => {
    expect(() => strictGuard.checkUrl(new URL(url))).toThrow(BlockedAddressError);
  });

  it.each([
    'http://1.1.1.1/',
    'https://93.184.215.14/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
    'http://[2606:4700::1111]/',
    'http://[::ffff:8.8.8.8]/',
    'https://example.com:8443/path',
  ])('accepts %s', (url) => {
    expect(strictGuard.checkUrl(new URL(url))).toBeUndefined();
  });

  it.each(['http://[fe80::1%25eth0]/', 'http://127.0.0.1%00.example.com/', 'http://256.256.256.256/', 'http://1.2.3.4.5/'])(
    'never receives %s, because URL rejects it',
    (url) => expect(() => new URL(url)).toThrow(TypeError),
  );
});

describe('NetGuard with allowed entries', () => {
  const guard = new NetGuard(['10.1.0.0/16', '127.0.0.1', 'fd00::/8', 'Tools.Internal', '::ffff:192.168.7.7']);

  it.each([
    'http://10.1.2.3/',
    'http://0x7f.1/',
    'http://[fd12::1]/',
    'http://[::ffff:10.1.2.3]/',
    'http://192.168.7.7/',
    'http://tools.internal./',
  ])('accepts %s', (url) => expect(guard.checkUrl(new URL(url))).toBeUndefined());

  it.each(['http://10.2.0.1/', 'http://127.0.0.2/', 'http://[fc00::1]/', 'http://[::1]/', 'ftp://10.1.2.3/'])(
    'still rejects %s',
    (url) => {
      expect(() => guard.checkUrl(new URL(url))).toThrow(BlockedAddressError);
    },
  );
});

describe('NetGuard.lookup', () => {
  const addressesByHost: Record<string, LookupAddress[]> = {
    'public.test': [
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ],
    'mixed.test': [
      { address: '1.1.1.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ],
    'local.test': [{ address: '127.0.0.1', family: 4 }],
    'scoped.test': [{ address: 'fe80::1%eth0', family: 6 }],
    'odd.test': [{ address: 'not an address', family: 4 }],
    'empty.test': [],
    'Allowed.test.': [{ address: '10.9.9.9', family: 4 }],
  };
  const guard = new NetGuard(['allowed.test'], (hostname, _options, callback) => {
    const addresses = addressesByHost[hostname];
    if (addresses) callback(null, addresses);
    else callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
  });
  const lookup = (hostname: string, all: boolean) =>
    new Promise((resolve) => {
      guard.lookup(hostname, { all }, (error, address) => resolve(error ?? address));
    });

  it('returns the checked addresses', async () => {
    expect(await lookup('public.test', true)).toEqual(addressesByHost['public.test']);
    expect(await lookup('public.test', false)).toBe('1.1.1.1');
  });

  it.each(['mixed.test', 'local.test', 'scoped.test', 'odd.test', 'empty.test'])(
    'rejects a host if any of its addresses is blocked: %s',
    async (name) => {
      expect(await lookup(name, true)).toBeInstanceOf(BlockedAddressError);
      expect(await lookup(name, false)).toBeInstanceOf(BlockedAddressError);
    },
  );

  it('accepts any address of an allowed host', async () => {
    expect(await lookup('Allowed.test.', false)).toBe('10.9.9.9');
  });

  it('passes on the error for an unknown host', async () => {
    expect(await lookup('nowhere.test', true)).toMatchObject({ code: 'ENOTFOUND' });
  });
});

const clients: [name: string, make: (options: HttpClientOptions) => HttpClient][] = [
  ['undici', (options) => new UndiciClient(options)],
  ['lean', (options) => new LeanClient(options)],
];

describe.each(clients)('guardClient over %s', (_name, make) => {
  const get = async (url: string, allowed: readonly string[], answers: readonly string[]) => {
    const lookedUpHosts: string[] = [];
    const guard = new NetGuard(allowed, (host, _options, callback) => {
      lookedUpHosts.push(host);
      const address = answers[Math.min(lookedUpHosts.length, answers.length) - 1] ?? '';
      callback(null, [{ address, family: address.includes(':') ? 6 : 4 }] satisfies LookupAddress[]);
    });
    const client = guardClient(guard, (lookup) => make({ lookup }));
    onTestFinished(() => client.close());
    const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
    const reply = await openReply(client, { method: 'GET', url: new URL(url), headers: {}, body: null, timeouts }, neverAborted);
    return { text: await readText(reply, 1000), lookedUpHosts };
  };

  it('connects to the checked address, even if the next lookup returns another', async () => {
    const server = await startServer((request, response) => response.end(request.headers.host));
    const { text, lookedUpHosts } = await get(`http://rebinding.test:${server.port}/`, ['127.0.0.1'], ['127.0.0.1', '10.0.0.1']);
    expect([text, lookedUpHosts]).toEqual([`rebinding.test:${server.port}`, ['rebinding.test']]);
  });

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00:ec2::254'])(
    'does not connect to a name that resolves to %s, and reports the reason',
    async (address) => {
      const server = await startServer((_request, response) => response.end());
      await expect(get(`http://inside.test:${server.port}/`, [], [address])).rejects.toMatchObject({
        kind: 'unsendable',
        message: expect.stringContaining('inside.test is or resolves to a blocked address'),
      });
      expect(server.seen).toEqual([]);
    },
  );

  it.each(['http://127.0.0.1', 'http://[::ffff:7f00:1]', 'http://2130706433', 'http://user:pw@1.1.1.1'])(
    'does not send to %s',
    async (base) => {
      const server = await startServer((_request, response) => response.end());
      const { protocol, host, username } = new URL(base);
      await expect(get(`${protocol}//${username ? 'user:pw@' : ''}${host}:${server.port}/`, [], [])).rejects.toMatchObject({
        kind: 'unsendable',
      });
      expect(server.seen).toEqual([]);
    },
  );
});
