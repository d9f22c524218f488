import type {
  BackupEnded,
  BackupFailed,
  ContentsDamaged,
  DownloadedNews,
  FilesDamaged,
  FilesGoing,
  LinkNews,
  LinkNewsItem,
  MailContent,
  WebhookDisabled,
} from '../core/mail-content.ts'
import { dayFormat, momentFormat } from '../domain/days.ts'
import { formatSize } from '../domain/sizes.ts'

export type ListItem = string | { readonly text: string; readonly items: readonly string[] }

export interface MailText {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly list?: { readonly items: readonly ListItem[]; readonly more: string | null }
  readonly link?: { readonly label: string; readonly address: string }
  readonly rest: readonly string[]
  readonly end?: { readonly label: string; readonly address: string }
}

export interface MailTextContext {
  /** The public address without its scheme. */
  readonly host: string
  readonly address: (path: string) => string
}

export type RenderMail = (content: MailContent, context: MailTextContext) => MailText

const day = dayFormat('en-GB', 'UTC')
const moment = momentFormat('en-GB', 'UTC')
const number = new Intl.NumberFormat('en-GB')

export const mailTextEn: RenderMail = (content, at) => {
  const account = `the account ${content.username} at ${at.host}`
  const notYou = 'If that was not you, set a new password at once, or contact whoever runs the server.'
  switch (content.kind) {
    case 'verify':
      return {
        subject: 'Confirm your address',
        paragraphs: [`Somebody, most likely you, wants email for ${account} to go to this address.`],
        link: { label: 'Confirm the address', address: at.address(content.path) },
        rest: ['The link works once, for a day. If that was not you, you need not do anything.'],
      }
    case 'reset':
      return {
        subject: 'Set a new password',
        paragraphs: [`Somebody, most likely you, asked for a new password for ${account}.`],
        link: { label: 'Set a new password', address: at.address(content.path) },
        rest: [
          'The link works once, for an hour. If that was not you, you need not do anything: your password stays as it is.',
        ],
      }
    case 'password changed':
      return {
        subject: 'Your password was changed',
        paragraphs: [`The password of ${account} was changed, and other browsers were signed out.`],
        link: { label: 'Set another password', address: at.address('/sign-in/forgotten') },
        rest: [notYou],
      }
    case 'address changed':
      return {
        subject: 'Your address was changed',
        paragraphs: [`From now on, email for ${account} goes to another address instead of this one.`],
        rest: [notYou],
      }
    case 'address removed':
      return {
        subject: 'Your address was removed',
        paragraphs: [`Email for ${account} no longer goes to this address.`],
        rest: [notYou],
      }
    case 'files going':
      return filesGoing(content, account, at)
    case 'files damaged':
      return filesDamaged(content, account, at)
    case 'link news':
      return linkNews(content, account, at)
    case 'webhook disabled':
      return webhookDisabled(content, account, at)
    case 'contents damaged':
      return contentsDamaged(content, at)
    case 'backup ended':
      return backupLacks(content, at)
    case 'drill ended':
      return content.wrong === 0 ? drillSaidYes(content, at) : drillSaidNo(content, at)
    case 'backup failed':
    case 'drill failed':
      return backupFailed(content, at)
  }
}

function filesGoing(content: FilesGoing, account: string, at: MailTextContext): MailText {
  const { names, more, goAt, days } = content
  const count = names.length + more
  const isOne = count === 1
  const files = isOne ? 'One file' : `${number.format(count)} files`
  return {
    subject: isOne ? 'One file will be deleted soon' : `${files} will be deleted soon`,
    paragraphs: [
      `${files} in ${account} will be deleted from ${day(goAt)} (UTC) on, unless somebody opens ${isOne ? 'it' : 'them'} first:`,
    ],
    list: { items: names, more: more === 0 ? null : `and ${number.format(more)} more` },
    link: { label: isOne ? 'Keep it' : 'Keep all of them', address: at.address(content.keepPath) },
    rest: [
      `That counts as opening ${isOne ? 'it' : 'each of them'}: a file stays as long as somebody opens it every ${number.format(days)} days.`,
    ],
    end: { label: 'Stop these emails', address: at.address(content.unsubscribePath) },
  }
}

function filesDamaged({ names, more, unsubscribePath }: FilesDamaged, account: string, at: MailTextContext) {
  const count = names.length + more
  const isOne = count === 1
  const files = isOne ? 'One file' : `${number.format(count)} files`
  return {
    subject: isOne ? 'One of your files is damaged' : `${number.format(count)} of your files are damaged`,
    paragraphs: [
      `${files} in ${account} cannot be downloaded any more, because the stored bytes have changed or are lost:`,
    ],
    list: { items: names, more: more === 0 ? null : `and ${number.format(more)} more` },
    link: { label: 'Show your files', address: at.address('/files') },
    rest: [
      `If you still have ${isOne ? 'it, upload the same file' : 'them, upload the same files'} again: then the old ${isOne ? 'link works' : 'links work'} again too. Whoever runs the server may have a backup.`,
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function linkNews({ news, more, unsubscribePath }: LinkNews, account: string, at: MailTextContext): MailText {
  const [first] = news
  const isOne = news.length + more === 1 && first !== undefined
  return {
    subject: isOne ? newsItem(first) : `News of your links: ${number.format(news.length + more)}`,
    paragraphs: [`This happened to ${account}:`],
    list: { items: news.map(newsEntry), more: more === 0 ? null : `and ${number.format(more)} more` },
    link: { label: 'Show your files', address: at.address('/files') },
    rest: [
      '“Shared links” there lists your links, where you change or take them back. Who sent files is what they say of themselves.',
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function newsEntry(item: LinkNewsItem): ListItem {
  if (item.kind !== 'received') return newsItem(item)
  const names = item.files.map(({ name, sender }) => (sender === null ? name : `${name} (${sender})`))
  const more = item.count - names.length
  return {
    text: `${newsItem(item)}:`,
    items: more === 0 ? names : [...names, `and ${number.format(more)} more`],
  }
}

function newsItem(item: LinkNewsItem): string {
  switch (item.kind) {
    case 'received':
      return `${item.count === 1 ? 'One file' : `${number.format(item.count)} files`} came by “${item.title}”`
    case 'downloaded':
      return downloaded(item)
    case 'used up':
      return `“${item.title}” has ended: all its downloads were made`
    case 'full':
      return `“${item.title}” has ended: all files that it takes have come`
    case 'ends soon':
      return `“${item.title}” ends on ${moment(item.at)} UTC`
    case 'ended':
      return `“${item.title}” ended on ${moment(item.at)} UTC`
    case 'nearly full':
      return `Your storage is nearly full: ${formatSize(item.bytes)} are used`
  }
}

function downloaded({ title, times, isFirst }: DownloadedNews): string {
  const often = (count: number) => (count === 1 ? 'once' : `${number.format(count)} times`)
  if (!isFirst) return `“${title}” was downloaded ${often(times)}`
  const first = `“${title}” was downloaded for the first time`
  return times === 1 ? first : `${first}, and ${often(times - 1)} after that`
}

function webhookDisabled(
  { url, isGone, unsubscribePath }: WebhookDisabled,
  account: string,
  at: MailTextContext,
): MailText {
  const why = isGone
    ? 'its receiver has answered that it is gone'
    : 'nothing that was sent there has succeeded for a day'
  return {
    subject: 'A webhook was disabled',
    paragraphs: [`A webhook of ${account} was disabled, because ${why}:`],
    list: { items: [url], more: null },
    link: { label: 'Show your webhooks', address: at.address('/settings/webhooks') },
    rest: [
      'Nothing is sent there any more. Resume it there, or with "holdfast webhooks --enable", once its receiver works. What could not be sent can be sent again for a week.',
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function contentsDamaged({ contents, files, more, unsubscribePath }: ContentsDamaged, at: MailTextContext) {
  const what = contents === 1 ? 'One stored content' : `${number.format(contents)} stored contents`
  return {
    subject: `${what} ${contents === 1 ? 'is' : 'are'} damaged`,
    paragraphs: [
      `${what} at ${at.host} ${contents === 1 ? 'was' : 'were'} found damaged. Files that have ${contents === 1 ? 'it' : 'them'} are not sent any more:`,
    ],
    list: {
      items: files.map(({ name, owner }) => `${name} (${owner ?? 'a guest'})`),
      more: more === 0 ? null : `and ${number.format(more)} more`,
    },
    link: { label: 'Show them', address: at.address('/admin/integrity') },
    rest: [
      '"holdfast check --from <backup>" brings back what a backup has; uploading the same file again repairs it too. The disk, its cable or the memory may be failing, and damage more.',
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function backupLacks({ place, takenAt, wrong, unsubscribePath }: BackupEnded, at: MailTextContext): MailText {
  const what = wrong === 1 ? 'one content' : `${number.format(wrong)} contents`
  return {
    subject: `The backup lacks ${what}`,
    paragraphs: [
      `The backup of ${at.host} of ${moment(takenAt)} UTC in ${place} was made, but ${what} could not be copied, because the stored bytes have changed or are lost.`,
    ],
    link: { label: 'Show stored bytes', address: at.address('/admin/integrity') },
    rest: [
      '"holdfast check --read-data" names the files. Earlier backups may still have them: "holdfast check --from <backup>" brings them back. Do that before those are dropped.',
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function drillSaidYes({ place, takenAt, files, bytes, unsubscribePath }: BackupEnded, at: MailTextContext) {
  const read = files === 1 ? 'one file' : `${number.format(files)} files`
  return {
    subject: 'The backup can be restored',
    paragraphs: [
      `The backup of ${at.host} of ${moment(takenAt)} UTC in ${place} was restored into a scratch folder, and a server was started on it. All contents have their hashes, and ${read} with ${formatSize(bytes)}, taken by chance, came back as uploaded.`,
    ],
    link: { label: 'Show backups', address: at.address('/admin/integrity') },
    rest: ['The settings and their passwords are not in the backup. Keep them elsewhere too.'],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function drillSaidNo({ place, takenAt, wrong, unsubscribePath }: BackupEnded, at: MailTextContext): MailText {
  const what = wrong === 1 ? 'one content is' : `${number.format(wrong)} contents are`
  return {
    subject: 'The backup cannot be restored whole',
    paragraphs: [
      `The backup of ${at.host} of ${moment(takenAt)} UTC in ${place} was restored into a scratch folder, but ${what} missing or damaged.`,
    ],
    link: { label: 'Show backups', address: at.address('/admin/integrity') },
    rest: [
      '"holdfast drill" names the files. The disk of the backup may be failing: begin another backup in a new place.',
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}

function backupFailed({ kind, place, reason, lastAt, unsubscribePath }: BackupFailed, at: MailTextContext) {
  const isBackup = kind === 'backup failed'
  const last = lastAt === null ? null : moment(lastAt)
  return {
    subject: isBackup ? 'The backup failed' : 'The backup could not be tried out',
    paragraphs: [
      isBackup
        ? `${at.host} could not be backed up to ${place}.`
        : `The backup of ${at.host} in ${place} could not be restored into a scratch folder.`,
      reason,
    ],
    link: { label: 'Show backups', address: at.address('/admin/integrity') },
    rest: [
      isBackup
        ? `${last === null ? 'There is no backup yet.' : `The newest backup is of ${last} UTC.`} The server tries again every hour, and tells you once a day.`
        : 'Whether it can be restored is not known. The server tries again every day.',
    ],
    end: { label: 'Stop these emails', address: at.address(unsubscribePath) },
  }
}
