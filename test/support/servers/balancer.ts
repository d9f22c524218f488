/** nginx in front of several nodes: each request goes to a random one. */

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { listens } from '../processes/free-port.ts'
import { toolPath, whyNoTools } from '../processes/tools.ts'

export interface Balancer {
  stop(): Promise<void>
}

export interface BalancerOptions {
  /** Maximum body size in nginx's format, such as `2m`; 0: unlimited. */
  readonly largestBody?: string
}

/**
 * Source address of the balancer. Differs from the tests' own, so that nodes can trust only the balancer, and
 * X-Forwarded-For set by a test has the same meaning as without one.
 */
export const BALANCER_ADDRESS = '127.0.0.2'

/**
 * Listens on a port of 127.0.0.1 and forwards to nodes on other ports; ends with this process. Throws when
 * nginx is missing.
 */
export async function startBalancer(
  port: number,
  nodes: readonly number[],
  { largestBody = '0' }: BalancerOptions = {},
): Promise<Balancer> {
  const found = toolPath('nginx')
  if (found === null) throw new Error(whyNoTools('nginx') ?? '')
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'))
  const log = join(folder, 'error.log')
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, nodes, largestBody))
  let isReady = false
  let stopped = false
  let nginx = launch()

  function launch(): Bun.Subprocess {
    const output = openSync(log, 'a')
    // `bun test` does not run `exit` handlers, so the kernel has to end nginx.
    const command = [
      'setpriv',
      '--pdeathsig=SIGKILL',
      found ?? '',
      '-p',
      folder,
      '-e',
      log,
      '-c',
      join(folder, 'nginx.conf'),
    ]
    const started = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: output })
    closeSync(output)
    // Bun kills all children when a test times out, and later tests still need the balancer.
    void started.exited.then((code) => {
      const wasKilled = code === 0 || started.signalCode !== null
      if (isReady && wasKilled && !stopped) nginx = launch()
    })
    return started
  }

  function remove(): void {
    stopped = true
    nginx.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }

  process.on('exit', remove)
  await eventually('nginx listens', () => {
    if (nginx.exitCode !== null) throw new Error(`nginx does not start: ${readFileSync(log, 'utf8')}`)
    return listens(port)
  })
  isReady = true
  return {
    async stop() {
      stopped = true
      nginx.kill('SIGTERM')
      await nginx.exited
      remove()
      process.off('exit', remove)
    },
  }
}

/**
 * Buffering, retries and, by default, size limits are off: an answer is exactly what the chosen node gave.
 */
function configuration(folder: string, port: number, nodes: readonly number[], largestBody: string): string {
  const servers = nodes.map((node) => `server 127.0.0.1:${node} max_fails=0;`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  upstream nodes {
    random;
    ${servers.join('\n    ')}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    client_max_body_size ${largestBody};
    large_client_header_buffers 8 64k;
    ignore_invalid_headers off;
    underscores_in_headers on;
    merge_slashes off;
    location / {
      proxy_pass http://nodes;
      proxy_bind ${BALANCER_ADDRESS};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_request_buffering off;
      proxy_buffering off;
      proxy_next_upstream off;
      proxy_read_timeout 1h;
      proxy_send_timeout 1h;
    }
  }
}
`
}
