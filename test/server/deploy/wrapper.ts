/** The delivered `deploy/holdfast-command` as it is installed, with a stand-in for systemd and other paths. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN, REPOSITORY } from '../../support/cli/command.ts'

export interface Installed {
  /** Folder with `holdfast`, for the front of PATH. */
  readonly bin: string
  /** Settings of the service. */
  readonly settings: string
}

/** Installs it below the folder, for a service with that data folder. */
export function installWrapper(folder: string, data: string): Installed {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const settings = join(folder, 'holdfast.env')
  writeFileSync(settings, '')
  const paths = {
    '/usr/bin/node': join(bin, 'node'),
    '/opt/holdfast/bin/holdfast.js': MAIN,
    '/var/lib/holdfast': data,
    '/etc/holdfast/holdfast.env': settings,
  }
  const wrapper = Object.entries(paths).reduce(
    (text, [path, here]) => {
      const lines = text
        .split('\n')
        .map((line) => (line.startsWith('#') ? line : line.replaceAll(path, here)))
      if (lines.join('\n') === text) throw new Error(`${path} is not in the wrapper any more`)
      return lines.join('\n')
    },
    readFileSync(join(REPOSITORY, 'deploy/holdfast-command'), 'utf8'),
  )
  const programs = {
    holdfast: wrapper,
    node: `#!/bin/bash\nexec '${process.execPath}' --no-env-file "$2" "\${@:3}"\n`,
    'systemd-run': `#!/bin/sh\nexec '${process.execPath}' --no-env-file '${join(import.meta.dir, 'systemd-run.ts')}' "$@"\n`,
    // As one who may do everything, in a test that is not run by root.
    ...(process.getuid?.() === 0 ? {} : { id: '#!/bin/sh\necho 0\n' }),
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text)
    chmodSync(join(bin, name), 0o755)
  }
  return { bin, settings }
}
