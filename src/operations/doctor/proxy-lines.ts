import type { Change } from './findings.ts'

export type ProxyName = 'nginx' | 'Caddy' | 'Apache' | 'HAProxy' | 'Traefik' | 'Cloudflare'

type Lines = Readonly<Partial<Record<ProxyName, string>>>

export const proxyLines = {
  bodyLimit: {
    nginx: 'client_max_body_size 0;',
    Caddy: 'remove "request_body { max_size … }"',
    Traefik: 'remove the middleware "buffering" (maxRequestBodyBytes)',
    Cloudflare:
      'no setting: 100 MB on Free and Pro, 200 MB on Business; larger files arrive by resumable uploads only, which the site and "holdfast upload" use',
  },
  requestBuffering: {
    nginx: 'proxy_request_buffering off; proxy_http_version 1.1;',
    Caddy: 'remove "request_buffers" from reverse_proxy',
    Apache: 'SetEnv proxy-sendchunked 1',
    Traefik: 'remove the middleware "buffering"',
  },
  uploadWindow: {
    nginx: 'client_body_buffer_size 1m;',
    Apache: 'H2WindowSize 1048576',
    HAProxy:
      'in global: tune.h2.initial-window-size 1048576 (from 2.9 on tune.h2.fe.initial-window-size; docs/operations/haproxy.md)',
  },
  responseBuffering: {
    nginx: 'remove "proxy_ignore_headers X-Accel-Buffering", or proxy_buffering off;',
    Caddy: 'reverse_proxy … { flush_interval -1 }',
    Apache: 'ProxyPass … flushpackets=on',
    Traefik: 'remove the middleware "buffering"',
  },
  silence: {
    nginx: 'proxy_read_timeout 600s; proxy_send_timeout 600s;',
    Caddy: 'remove "response_header_timeout" from the transport of reverse_proxy',
    Apache: 'ProxyTimeout 600',
    HAProxy: 'timeout server 600s',
    Traefik: 'serversTransport.forwardingTimeouts.responseHeaderTimeout: 600s',
    Cloudflare: 'no setting below Enterprise: 100 s; resumable uploads ask again by themselves',
  },
  forgedAddress: {
    nginx: 'proxy_set_header X-Forwarded-For $remote_addr;',
    Caddy: 'remove "trusted_proxies" and "header_up X-Forwarded-For" from reverse_proxy',
    Apache: 'RequestHeader unset X-Forwarded-For early',
    HAProxy: 'http-request set-header X-Forwarded-For %[src]',
    Traefik: 'entryPoints.<name>.forwardedHeaders.insecure: false',
  },
  noForwardedAddress: {
    nginx: 'proxy_set_header X-Forwarded-For $remote_addr;',
    Caddy: 'remove "header_up -X-Forwarded-For" from reverse_proxy',
    Apache: 'ProxyAddHeaders On',
    HAProxy: 'option forwardfor',
  },
  host: {
    nginx: 'proxy_set_header Host $http_host;',
    Caddy: 'remove "header_up Host …" from reverse_proxy',
    Apache: 'ProxyPreserveHost On',
    HAProxy: 'remove "http-request set-header Host …"',
    Traefik: 'loadBalancer.passHostHeader: true',
  },
  methods: {
    nginx: 'remove "limit_except" from the location',
    Apache: 'remove <LimitExcept> and <Limit> from the location',
    HAProxy: 'remove the "http-request deny" that looks at "method"',
    Cloudflare: 'remove the WAF rule that blocks PATCH and PUT',
  },
  ranges: {
    nginx: 'remove "proxy_set_header Range" and "proxy_cache" from the location',
    Apache: 'remove "RequestHeader unset Range"',
    HAProxy: 'remove "http-request del-header Range"',
  },
  metrics: {
    nginx: 'location = /metrics { return 404; }',
    Caddy: '@metrics path /metrics\nrespond @metrics 404',
    Apache: '<Location "/metrics">Require all denied</Location>',
    HAProxy: 'http-request deny deny_status 404 if { path /metrics }',
  },
} as const satisfies Record<string, Lines>

export function linesFor(lines: Lines, proxy: ProxyName | null): Change[] {
  const all = Object.entries(lines).map(([where, line]) => ({ where, line }))
  const own = all.filter(({ where }) => where === proxy)
  return own.length > 0 ? own : all
}

/** HAProxy and Traefik do not name themselves. */
export function proxyOf(headers: Headers): ProxyName | null {
  const said = `${headers.get('server') ?? ''} ${headers.get('via') ?? ''}`.toLowerCase()
  if (said.includes('cloudflare')) return 'Cloudflare'
  if (said.includes('nginx') || said.includes('openresty')) return 'nginx'
  if (said.includes('caddy')) return 'Caddy'
  if (said.includes('apache')) return 'Apache'
  return null
}
