import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { runProgram } from '../../support/processes/program.ts'

const REPOSITORY = join(import.meta.dir, '../../..')
const PAGE = readFileSync(join(REPOSITORY, 'docs/operations/small-server.md'), 'utf8')
const NAME = 'files.somebody.example'

/** As root in a system below $ROOT, for commands that write files; every other command of root's is written down alone. */
const SUDO = `#!/bin/bash
case "$1" in
install|cp|sed|tee) ;;
*) echo "$*" >>"$ROOT/called"; exit ;;
esac
args=()
skip=
for word do
  if [ -n "$skip" ]; then skip=; continue; fi
  # The service's user is not there.
  case "$word" in -o|-g) skip=yes ;; /*) args+=("$ROOT$word") ;; *) args+=("$word") ;; esac
done
exec "\${args[@]}"
`

test('the commands for a small server, in their order, leave a service, a proxy and a backup that belong together', async () => {
  using system = newSystem()
  const at = (path: string) => join(system.path, path)
  const script = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, text = '']) => text)
    .join('\n')
    .replace('NAME=files.example.org', `NAME=${NAME}`)
    .replace('<address of the repository>', 'repository')
    .replace('cd /opt/holdfast', `cd '${REPOSITORY}'`)
  const { code, errors } = await runProgram(['bash', '-euo', 'pipefail', '-c', script], {
    cwd: system.path,
    env: { PATH: `${at('bin')}:${process.env.PATH}`, ROOT: system.path },
  })
  expect({ code, errors }).toEqual({ code: 0, errors: '' })

  const settings = [...readFileSync(at('etc/holdfast/holdfast.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)]
  expect(loadConfig(Object.fromEntries(settings.map(([, name, value]) => [name, value])))).toMatchObject({
    publicUrl: `https://${NAME}`,
    guestUploads: false,
  })
  expect(readFileSync(at('etc/caddy/Caddyfile'), 'utf8')).toContain(`\n${NAME} {\n`)
  expect(existsSync(at('etc/systemd/system/holdfast.service'))).toBe(true)
  expect(existsSync(at('usr/local/bin/holdfast'))).toBe(true)
  expect(Object.fromEntries(settings.map(([, name, value]) => [name, value]))).toMatchObject({
    HOLDFAST_BACKUP: '/mnt/backup/holdfast',
  })
  expect(readFileSync(at('etc/systemd/system/holdfast.service.d/backup.conf'), 'utf8')).toBe(
    '[Service]\nReadWritePaths=/mnt/backup/holdfast\n',
  )
  expect(existsSync(at('mnt/backup/holdfast'))).toBe(true)

  const called = readFileSync(at('called'), 'utf8').trim().split('\n')
  const order = ['ufw allow OpenSSH', 'ufw --force enable', 'systemctl enable --now holdfast']
  order.push('systemctl reload caddy', 'holdfast admin add ada', 'systemctl restart holdfast')
  order.push('holdfast backup', 'holdfast drill')
  expect(called.filter((line) => order.includes(line))).toEqual(order)
})

test('the commands for nginx name no certificate before it was requested', async () => {
  using system = newSystem()
  const at = (path: string) => join(system.path, path)
  for (const path of ['etc/nginx/conf.d', 'etc/letsencrypt/live/files.example.org'])
    mkdirSync(at(path), { recursive: true })
  // As nginx and certbot: the one refuses certificates that are not there, the other writes them.
  const programs = {
    nginx: `for path in $(grep -rhoP 'ssl_certificate(_key)? \\K[^;]+' "$ROOT/etc/nginx"); do [ -e "$ROOT$path" ] || exit 1; done`,
    certbot: `touch "$ROOT/etc/letsencrypt/live/files.example.org/fullchain.pem" "$ROOT/etc/letsencrypt/live/files.example.org/privkey.pem"`,
    sudo: `case "$1" in\nnginx|certbot) exec "$@" ;;\nmkdir|cp|rm) ;;\n*) echo "$*" >>"$ROOT/called"; exit ;;\nesac\nfor word do\n  case "$word" in /*) word="$ROOT$word" ;; esac\n  set -- "$@" "$word"; shift\ndone\nexec "$@"`,
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(at(`bin/${name}`), `#!/bin/bash\n${text}\n`)
    chmodSync(at(`bin/${name}`), 0o755)
  }
  const page = readFileSync(join(REPOSITORY, 'docs/operations/install.md'), 'utf8')
  const [block = ''] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, text = '']) => text)
    .filter((text) => text.includes('certbot'))
  const { code, errors } = await runProgram(['bash', '-euo', 'pipefail', '-c', block], {
    cwd: REPOSITORY,
    env: { PATH: `${at('bin')}:${process.env.PATH}`, ROOT: system.path },
  })
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const left = Bun.spawnSync(['ls', at('etc/nginx/conf.d')])
    .stdout.toString()
    .trim()
    .split('\n')
  expect(left).toEqual(['holdfast-log.conf', 'holdfast-tls.conf', 'one-node.conf'])
  expect(readFileSync(at('called'), 'utf8').match(/systemctl reload nginx/g)).toHaveLength(2)
})

/** The folders of a Debian machine with Caddy, and data as the service makes it. */
function newSystem() {
  const folder = temporaryFolder()
  for (const path of ['bin', 'etc/caddy', 'etc/systemd/system', 'usr/local/bin', 'mnt/backup'])
    mkdirSync(join(folder.path, path), { recursive: true })
  writeFileSync(join(folder.path, 'bin/sudo'), SUDO)
  chmodSync(join(folder.path, 'bin/sudo'), 0o755)
  return folder
}
