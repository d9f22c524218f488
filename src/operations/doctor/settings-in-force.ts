import { type Config, openToOthers } from '../../config.ts'
import { isLoopback } from '../../core/unknown-proxies.ts'
import { formatSize } from '../../domain/sizes.ts'
import { settings } from '../../settings.ts'
import { advice, type Finding, fine, problem, say } from './findings.ts'

export function checkSettings(config: Config): readonly Finding[] {
  const found = [redirect(config), provider(config), largestFile(config)].filter(
    (finding) => finding !== null,
  )
  const secrets = checkSecretFiles(config)
  if (found.length === 0) return [fine('settings', say`no setting stands in the way of another`), ...secrets]
  return [...found, ...secrets]
}

function checkSecretFiles({ secretFiles }: Config): Finding[] {
  if (secretFiles.length === 0) return []
  const open = openToOthers(secretFiles)
  if (open.length === 0)
    return [fine('secret-files', say`files with secrets are open to nobody but their owner and group`)]
  return open.map(({ variable, path }) =>
    problem(
      'secret-files',
      say`everybody on this machine can read ${path}, the secret of ${variable}`,
      say`Every program that runs here, of whatever user, can act as this server.`,
      [{ where: 'shell', line: `chmod o= ${path}` }],
    ),
  )
}

function redirect({ s3, s3Redirect, publicUrl }: Config): Finding | null {
  if (s3 === null || !s3Redirect) return null
  const store = new URL(s3.endpoint)
  const change = {
    where: 'Holdfast',
    line: `${settings.s3Endpoint.variable}=https://<a name that visitors reach>, or ${settings.s3Redirect.variable}=false`,
  }
  if (isLoopback(store)) {
    return problem('settings', say`downloads lead to ${store.origin}`, say`Only this machine can open it.`, [
      change,
    ])
  }
  if (publicUrl?.startsWith('https:') && store.protocol === 'http:') {
    const why = say`Browsers refuse http content on an https page: pictures, films and downloads stay empty.`
    return problem('settings', say`downloads lead from https to ${store.origin}`, why, [change])
  }
  return null
}

function provider({ oidc }: Config): Finding | null {
  if (oidc === null) return null
  const issuer = new URL(oidc.issuer)
  if (issuer.protocol === 'https:' || isLoopback(issuer)) return null
  return problem(
    'settings',
    say`signing in with ${oidc.name} is off`,
    say`Its answers could be forged on their way.`,
    [{ where: 'Holdfast', line: `${settings.oidcIssuer.variable}=https://${issuer.host}` }],
  )
}

function largestFile({ guestUploads, guestStorage, guestHourlySize, maxFileSize }: Config): Finding | null {
  const most = Math.min(guestStorage, guestHourlySize)
  if (!guestUploads || maxFileSize <= most) return null
  return advice(
    'settings',
    say`a guest may send ${formatSize(most)}, a file may have ${formatSize(maxFileSize)}`,
    say`Guests who choose a file in between are refused by a limit that is not about files.`,
    [
      {
        where: 'Holdfast',
        line: `${guestHourlySize < guestStorage ? settings.guestHourlySize.variable : settings.guestStorage.variable}=${formatSize(maxFileSize)}`,
      },
    ],
  )
}
