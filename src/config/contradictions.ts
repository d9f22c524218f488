import { isIP } from 'node:net'
import { type Setting, settings, type WrittenPlace } from '../settings.ts'
import type { ConfigProblem, SettingsReader } from './environment.ts'

/** S3 takes 10,000 parts, and an upload keeps one in memory: see docs/decisions/s3.md. */
const LARGEST_IN_S3 = 230 * 1024 ** 3

const RULES: readonly ((reader: SettingsReader) => ConfigProblem[])[] = [
  sizeContradictions,
  addressContradictions,
  metricsContradictions,
  s3Pointless,
  s3Needs,
  s3Size,
  s3Name,
  oidcContradictions,
  mailContradictions,
  secretContradictions,
  backupKeys,
  backupPointless,
  (reader) => takenPlace(reader, settings.backup, [settings.mirror]),
  (reader) => bucketKeys(reader, settings.backup, BACKUP_BUCKET),
  drillFolderContradictions,
  mirrorPointless,
  mirrorKeys,
  (reader) => takenPlace(reader, settings.mirror, []),
  (reader) => bucketKeys(reader, settings.mirror, MIRROR_BUCKET),
]

export function contradictions(reader: SettingsReader): ConfigProblem[] {
  const wrong = new Set(reader.problems.map(({ variable }) => variable))
  return RULES.flatMap((rule) => reader.amongAllowed(rule)).filter(({ variable }) => !wrong.has(variable))
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

function s3Pointless(reader: SettingsReader): ConfigProblem[] {
  const { s3Endpoint, s3Bucket, s3Redirect } = settings
  // "holdfast relocate" needs the access key without an endpoint, while the move to S3 is still ahead.
  return reader.value(s3Endpoint) === null
    ? pointless(reader, [s3Bucket, s3Redirect], s3Endpoint.variable)
    : []
}

function s3Needs(reader: SettingsReader): ConfigProblem[] {
  const { s3Endpoint, s3Bucket, s3AccessKeyId, s3SecretAccessKey } = settings
  if (reader.value(s3Endpoint) === null) return []
  return missing(reader, [s3Bucket, s3AccessKeyId, s3SecretAccessKey], s3Endpoint)
}

function s3Size(reader: SettingsReader): ConfigProblem[] {
  const { s3Endpoint, maxFileSize } = settings
  if (reader.value(s3Endpoint) === null || reader.value(maxFileSize) <= LARGEST_IN_S3) return []
  return [
    {
      variable: maxFileSize.variable,
      value: reader.shown(maxFileSize),
      reason: 'a file of this size cannot be written to an S3 store part by part; allowed is up to 230GB',
    },
  ]
}

function s3Name(reader: SettingsReader): ConfigProblem[] {
  const { s3Endpoint, s3PathStyle } = settings
  const endpoint = reader.value(s3Endpoint)
  return endpoint === null ? [] : namelessBucket(reader, endpoint, s3Endpoint, s3PathStyle)
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
  // The provider redirects only to registered addresses.
  return missing(reader, [oidcClientId, oidcClientSecret, publicUrl], oidcIssuer)
}

function mailContradictions(reader: SettingsReader): ConfigProblem[] {
  const { smtpUrl, mailFrom, publicUrl } = settings
  if (!reader.isWritten(smtpUrl)) return pointless(reader, [mailFrom], smtpUrl.variable)
  // Links in mails are opened on other machines, which the listening address need not reach.
  return missing(reader, [mailFrom, publicUrl], smtpUrl)
}

function secretContradictions(reader: SettingsReader): ConfigProblem[] {
  const { secret, secretFile } = settings
  if (!reader.isWritten(secret) || !reader.isWritten(secretFile)) return []
  const reason = `${secret.variable} is set as well; leave one of them out`
  return [{ variable: secretFile.variable, value: reader.shown(secretFile), reason }]
}

const BACKUP_BUCKET: BucketSettings = {
  key: [settings.backupS3AccessKeyId, settings.backupS3SecretAccessKey],
  pathStyle: settings.backupS3PathStyle,
}
const MIRROR_BUCKET: BucketSettings = {
  key: [settings.mirrorS3AccessKeyId, settings.mirrorS3SecretAccessKey],
  pathStyle: settings.mirrorS3PathStyle,
}

interface BucketSettings {
  readonly key: readonly [id: Setting<string>, secret: Setting<string>]
  readonly pathStyle: Setting<boolean>
}

/** The backup commands name a bucket themselves and need only the key. */
function backupKeys(reader: SettingsReader): ConfigProblem[] {
  return wholeKey(reader, BACKUP_BUCKET)
}

function wholeKey(reader: SettingsReader, { key: [key, secret] }: BucketSettings): ConfigProblem[] {
  return reader.isWritten(key) ? missing(reader, [secret], key) : pointless(reader, [secret], key.variable)
}

function backupPointless(reader: SettingsReader): ConfigProblem[] {
  const { backup, backupHours, backupKeepDaily, backupKeepWeekly, backupRate, drillDays, drillFolder } =
    settings
  const place = reader.value(backup)
  const forBuckets = [settings.backupS3Region, settings.backupS3PathStyle]
  if (place === null) {
    const own = [backupHours, backupKeepDaily, backupKeepWeekly, backupRate, drillDays, drillFolder]
    return pointless(reader, [...own, ...forBuckets], backup.variable)
  }
  return 'folder' in place ? pointless(reader, forBuckets, `a bucket in ${backup.variable}`) : []
}

function drillFolderContradictions(reader: SettingsReader): ConfigProblem[] {
  const { drillDays, drillFolder, dataDir, backup } = settings
  const folder = reader.value(drillFolder)
  if (folder === null || reader.value(backup) === null) return []
  if (reader.value(drillDays) === 0) {
    const reason = `it means nothing while ${drillDays.variable} is 0; leave this out`
    return [{ variable: drillFolder.variable, value: reader.shown(drillFolder), reason }]
  }
  const place = reader.value(backup)
  const others = [
    { variable: dataDir.variable, folder: reader.value(dataDir) },
    ...(place !== null && 'folder' in place ? [{ variable: backup.variable, folder: place.folder }] : []),
  ]
  return liesWithin(reader, drillFolder, folder, others)
}

function mirrorPointless(reader: SettingsReader): ConfigProblem[] {
  const { mirror, mirrorRate, mirrorS3AccessKeyId, mirrorS3SecretAccessKey } = settings
  const { mirrorS3Region, mirrorS3PathStyle, mirrorScrubDays } = settings
  const place = reader.value(mirror)
  const forBuckets = [mirrorS3AccessKeyId, mirrorS3SecretAccessKey, mirrorS3Region, mirrorS3PathStyle]
  if (place === null) return pointless(reader, [mirrorRate, mirrorScrubDays, ...forBuckets], mirror.variable)
  return 'folder' in place ? pointless(reader, forBuckets, `a bucket in ${mirror.variable}`) : []
}

function mirrorKeys(reader: SettingsReader): ConfigProblem[] {
  const place = reader.value(settings.mirror)
  return place === null || 'folder' in place ? [] : wholeKey(reader, MIRROR_BUCKET)
}

/** A bucket needs a name, and a key: its own or that of the main store. */
function bucketKeys(
  reader: SettingsReader,
  named: Setting<WrittenPlace | null>,
  { key, pathStyle }: BucketSettings,
): ConfigProblem[] {
  const place = reader.value(named)
  if (place === null || 'folder' in place) return []
  const nameless = namelessBucket(reader, place.endpoint, named, pathStyle)
  if (key.some((half) => reader.isWritten(half))) return nameless
  return [...nameless, ...missing(reader, [settings.s3AccessKeyId, settings.s3SecretAccessKey], named)]
}

/** Two stores in one place, or one inside the other, would be destroyed together. */
function takenPlace(
  reader: SettingsReader,
  named: Setting<WrittenPlace | null>,
  others: readonly Setting<WrittenPlace | null>[],
): ConfigProblem[] {
  const place = reader.value(named)
  if (place === null) return []
  const places = others.map((other) => ({ variable: other.variable, place: reader.value(other) }))
  if ('folder' in place) {
    const folders = places.flatMap(({ variable, place: its }) =>
      its !== null && 'folder' in its ? [{ variable, folder: its.folder }] : [],
    )
    const data = { variable: settings.dataDir.variable, folder: reader.value(settings.dataDir) }
    return overlaps(reader, named, place.folder, [data, ...folders])
  }
  const isIts = (its: { readonly endpoint: string | null; readonly bucket: string }) =>
    its.endpoint === place.endpoint && its.bucket === place.bucket
  const store = { endpoint: reader.value(settings.s3Endpoint), bucket: reader.value(settings.s3Bucket) }
  const taken = places.find(({ place: its }) => its !== null && 'bucket' in its && isIts(its))
  if (!isIts(store) && taken === undefined) return []
  const what = isIts(store) ? 'the store for the bytes itself' : `${taken?.variable} too`
  const reason = `this is ${what}; name another bucket, best of another service`
  return [{ variable: named.variable, value: reader.shown(named), reason }]
}

interface NamedFolder {
  readonly variable: string
  readonly folder: string
}

function overlaps(
  reader: SettingsReader,
  named: Setting<unknown>,
  folder: string,
  others: readonly NamedFolder[],
): ConfigProblem[] {
  const inside = liesWithin(reader, named, folder, others)
  const inner = others.find((other) => isWithin(other.folder, folder))
  if (inside.length > 0 || inner === undefined) return inside
  return [ownFolder(reader, named, `${inner.variable} lies in it`)]
}

function liesWithin(
  reader: SettingsReader,
  named: Setting<unknown>,
  folder: string,
  others: readonly NamedFolder[],
): ConfigProblem[] {
  const outer = others.find((other) => isWithin(folder, other.folder))
  return outer === undefined ? [] : [ownFolder(reader, named, `it lies in the folder of ${outer.variable}`)]
}

function isWithin(inner: string, outer: string): boolean {
  return `${inner}/`.startsWith(`${outer}/`)
}

function ownFolder(reader: SettingsReader, named: Setting<unknown>, where: string): ConfigProblem {
  const reason = `${where}; name a folder of its own, best on another disk`
  return { variable: named.variable, value: reader.shown(named), reason }
}

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
