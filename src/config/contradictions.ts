/** Settings that are allowed each by itself, and not together. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type Setting, settings } from '../settings.ts'
import type { ConfigProblem } from './config-problems.ts'
import type { SettingsReader } from './environment.ts'

/** S3 takes 10,000 parts, and an upload keeps one in memory: see docs/decisions/020-s3.md. */
const LARGEST_IN_S3 = 230 * 1024 ** 3

/** Every contradiction among settings whose values are allowed. */
export function contradictions(reader: SettingsReader): ConfigProblem[] {
  return [
    ...sizeContradictions(reader),
    ...addressContradictions(reader),
    ...metricsContradictions(reader),
    ...s3Contradictions(reader),
    ...oidcContradictions(reader),
    ...mailContradictions(reader),
    ...secretContradictions(reader),
    ...backupContradictions(reader),
    ...mirrorContradictions(reader),
  ]
}

function sizeContradictions(reader: SettingsReader): ConfigProblem[] {
  const { maxFileSize, storageLimit, guestUploads, guestStorage } = settings
  const hasGuests = reader.value(guestUploads)
  const mostStored = Math.max(reader.value(storageLimit), hasGuests ? reader.value(guestStorage) : 0)
  if (!reader.isWritten(maxFileSize) || reader.value(maxFileSize) <= mostStored) return []
  const guests = hasGuests ? ` or ${guestStorage.variable}` : ''
  return [
    {
      variable: maxFileSize.variable,
      value: reader.shown(maxFileSize),
      reason: `nobody may store so much; allowed is up to ${storageLimit.variable}${guests}`,
    },
  ]
}

function addressContradictions(reader: SettingsReader): ConfigProblem[] {
  const { publicUrl, contentUrl } = settings
  const content = reader.value(contentUrl)
  if (!reader.value(publicUrl)?.startsWith('https:') || !content?.startsWith('http:')) return []
  return [
    {
      variable: contentUrl.variable,
      value: content,
      reason: `browsers refuse http content on an https page; allowed is https, as ${publicUrl.variable} has it`,
    },
  ]
}

function metricsContradictions(reader: SettingsReader): ConfigProblem[] {
  const { metrics, metricsToken } = settings
  return reader.value(metrics) ? [] : pointless(reader, [metricsToken], `${metrics.variable}=on`)
}

function s3Contradictions(reader: SettingsReader): ConfigProblem[] {
  const { s3Endpoint, s3Bucket, s3AccessKeyId, s3SecretAccessKey, s3Redirect, s3PathStyle, maxFileSize } =
    settings
  const endpoint = reader.value(s3Endpoint)
  // "holdfast relocate" needs the access key without an endpoint, while the move to S3 is still ahead.
  if (endpoint === null) return pointless(reader, [s3Bucket, s3Redirect], s3Endpoint.variable)
  if (reader.value(maxFileSize) > LARGEST_IN_S3) {
    return [
      {
        variable: maxFileSize.variable,
        value: reader.shown(maxFileSize),
        reason: 'a file of this size cannot be written to an S3 store part by part; allowed is up to 230GB',
      },
    ]
  }
  const nameless = namelessBucket(reader, endpoint, s3Endpoint, s3PathStyle)
  if (nameless.length > 0) return nameless
  return missing(reader, [s3Bucket, s3AccessKeyId, s3SecretAccessKey], s3Endpoint)
}

function namelessBucket(
  reader: SettingsReader,
  endpoint: string,
  named: Setting<unknown>,
  pathStyle: Setting<boolean>,
): ConfigProblem[] {
  const isAddress = isIP(new URL(endpoint).hostname.replace(/^\[|\]$/g, '')) !== 0
  if (!isAddress || reader.value(pathStyle)) return []
  const reason = `${named.variable} is an IP address, which has no name for each bucket; set this to true`
  return [{ variable: pathStyle.variable, value: reader.written(pathStyle) ?? pathStyle.default, reason }]
}

function oidcContradictions(reader: SettingsReader): ConfigProblem[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcName, publicUrl } = settings
  if (reader.value(oidcIssuer) === null) {
    return pointless(reader, [oidcClientId, oidcName], oidcIssuer.variable)
  }
  // The provider redirects only to addresses that were registered with it, so the public one has to be known.
  return missing(reader, [oidcClientId, oidcClientSecret, publicUrl], oidcIssuer)
}

function mailContradictions(reader: SettingsReader): ConfigProblem[] {
  const { smtpUrl, mailFrom, publicUrl } = settings
  if (!reader.isWritten(smtpUrl)) return pointless(reader, [mailFrom], smtpUrl.variable)
  // Links in mails are opened on other machines, where the address that the server listens at may mean nothing.
  return missing(reader, [mailFrom, publicUrl], smtpUrl)
}

function secretContradictions(reader: SettingsReader): ConfigProblem[] {
  const { secret, secretFile } = settings
  if (!reader.isWritten(secret) || !reader.isWritten(secretFile)) return []
  const reason = `${secret.variable} is set as well; leave one of them out`
  return [{ variable: secretFile.variable, value: reader.shown(secretFile), reason }]
}

function backupContradictions(reader: SettingsReader): ConfigProblem[] {
  const { backupS3AccessKeyId: key, backupS3SecretAccessKey: secret } = settings
  if (reader.isWritten(key)) return missing(reader, [secret], key)
  return pointless(reader, [secret], key.variable)
}

function mirrorContradictions(reader: SettingsReader): ConfigProblem[] {
  const { mirror, mirrorRate, mirrorS3AccessKeyId: key, mirrorS3SecretAccessKey: secret } = settings
  const place = reader.value(mirror)
  const { mirrorS3Region, mirrorS3PathStyle, s3AccessKeyId, s3SecretAccessKey } = settings
  const forBuckets = [key, secret, mirrorS3Region, mirrorS3PathStyle]
  if (place === null) return pointless(reader, [mirrorRate, ...forBuckets], mirror.variable)
  if ('folder' in place) {
    const pointlessHere = pointless(reader, forBuckets, `a bucket in ${mirror.variable}`)
    return [...pointlessHere, ...sameFolder(reader, place.folder)]
  }
  if (
    place.endpoint === reader.value(settings.s3Endpoint) &&
    place.bucket === reader.value(settings.s3Bucket)
  ) {
    const reason = 'this is the store for the bytes itself; name another bucket, best of another service'
    return [{ variable: mirror.variable, value: reader.shown(mirror), reason }]
  }
  const nameless = namelessBucket(reader, place.endpoint, mirror, mirrorS3PathStyle)
  if (nameless.length > 0) return nameless
  if (reader.isWritten(key)) return missing(reader, [secret], key)
  const needless = pointless(reader, [secret], key.variable)
  return needless.length > 0 ? needless : missing(reader, [s3AccessKeyId, s3SecretAccessKey], mirror)
}

/** The data folder has its own store inside, and whatever destroys the one destroys the other. */
function sameFolder(reader: SettingsReader, folder: string): ConfigProblem[] {
  const data = resolve(reader.value(settings.dataDir))
  if (!`${resolve(folder)}/`.startsWith(`${data}/`)) return []
  const reason = `it lies in the data folder (${settings.dataDir.variable}); name one on another disk`
  return [{ variable: settings.mirror.variable, value: reader.shown(settings.mirror), reason }]
}

/** A problem for each setting that is not set although `present` needs it. */
function missing(
  reader: SettingsReader,
  needed: readonly Setting<unknown>[],
  present: Setting<unknown>,
): ConfigProblem[] {
  return needed
    .filter((setting) => !reader.isWritten(setting))
    .map(({ variable, allowed }) => ({
      variable,
      value: '',
      reason: `${present.variable} is set, so this is needed too: ${allowed}`,
    }))
}

/** A problem for each setting that is set although it has no effect without the variable `absent`. */
function pointless(
  reader: SettingsReader,
  set: readonly Setting<unknown>[],
  absent: string,
): ConfigProblem[] {
  return set
    .filter((setting) => reader.isWritten(setting))
    .map((setting) => ({
      variable: setting.variable,
      value: reader.shown(setting),
      reason: `it means nothing without ${absent}; set that too, or leave this out`,
    }))
}
