import type {
  BackupEnded,
  BackupFailed,
  ContentsDamaged,
  DownloadedNews,
  FilesDamaged,
  FilesGoing,
  LinkNews,
  LinkNewsItem,
  WebhookDisabled,
} from '../core/mail-content.ts'
import { dayFormat, momentFormat } from '../domain/days.ts'
import { formatSize } from '../domain/sizes.ts'
import type { ListItem, MailText, MailTextContext, RenderMail } from './mail-text-en.ts'

const day = dayFormat('de-DE', 'UTC')
const moment = momentFormat('de-DE', 'UTC')
const number = new Intl.NumberFormat('de-DE')

export const mailTextDe: RenderMail = (content, at) => {
  const account = `Konto ${content.username} auf ${at.host}`
  const notYou =
    'Wenn du das nicht warst, lege sofort ein neues Passwort fest oder wende dich an den Betreiber des Servers.'
  switch (content.kind) {
    case 'verify':
      return {
        subject: 'Bestätige deine Adresse',
        paragraphs: [`Jemand, vermutlich du, möchte E-Mails zum ${account} an diese Adresse bekommen.`],
        link: { label: 'Adresse bestätigen', address: at.address(content.path) },
        rest: ['Der Link gilt einmal, einen Tag lang. Wenn du das nicht warst, musst du nichts tun.'],
      }
    case 'reset':
      return {
        subject: 'Lege ein neues Passwort fest',
        paragraphs: [`Jemand, vermutlich du, möchte ein neues Passwort für das ${account}.`],
        link: { label: 'Neues Passwort festlegen', address: at.address(content.path) },
        rest: [
          'Der Link gilt einmal, eine Stunde lang. Wenn du das nicht warst, musst du nichts tun: Dein Passwort bleibt, wie es ist.',
        ],
      }
    case 'password changed':
      return {
        subject: 'Dein Passwort wurde geändert',
        paragraphs: [`Das Passwort zum ${account} wurde geändert; andere Browser wurden abgemeldet.`],
        link: { label: 'Anderes Passwort festlegen', address: at.address('/sign-in/forgotten') },
        rest: [notYou],
      }
    case 'address changed':
      return {
        subject: 'Deine Adresse wurde geändert',
        paragraphs: [`E-Mails zum ${account} gehen ab jetzt an eine andere Adresse und nicht mehr an diese.`],
        rest: [notYou],
      }
    case 'address removed':
      return {
        subject: 'Deine Adresse wurde entfernt',
        paragraphs: [`An diese Adresse gehen keine E-Mails zum ${account} mehr.`],
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
  const files = isOne ? 'Eine Datei' : `${number.format(count)} Dateien`
  return {
    subject: isOne ? 'Eine Datei wird bald gelöscht' : `${files} werden bald gelöscht`,
    paragraphs: [
      `${files} im ${account} ${isOne ? 'wird' : 'werden'} ab dem ${day(goAt)} (UTC) gelöscht, wenn niemand sie vorher öffnet:`,
    ],
    list: { items: names, more: more === 0 ? null : `und ${number.format(more)} weitere` },
    link: { label: isOne ? 'Behalten' : 'Alle behalten', address: at.address(content.keepPath) },
    rest: [
      `Das gilt, als wäre ${isOne ? 'sie' : 'jede von ihnen'} geöffnet worden: Eine Datei bleibt, solange jemand sie alle ${number.format(days)} Tage öffnet.`,
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(content.unsubscribePath) },
  }
}

function filesDamaged({ names, more, unsubscribePath }: FilesDamaged, account: string, at: MailTextContext) {
  const count = names.length + more
  const isOne = count === 1
  const files = isOne ? 'Eine Datei' : `${number.format(count)} Dateien`
  return {
    subject: isOne
      ? 'Eine deiner Dateien ist beschädigt'
      : `${number.format(count)} deiner Dateien sind beschädigt`,
    paragraphs: [
      `${files} im ${account} ${isOne ? 'kann' : 'können'} nicht mehr heruntergeladen werden, weil sich die gespeicherten Bytes verändert haben oder verloren sind:`,
    ],
    list: { items: names, more: more === 0 ? null : `und ${number.format(more)} weitere` },
    link: { label: 'Deine Dateien zeigen', address: at.address('/files') },
    rest: [
      `Wenn du sie noch hast, lade ${isOne ? 'dieselbe Datei' : 'dieselben Dateien'} noch einmal hoch: Dann ${isOne ? 'funktioniert auch der alte Link' : 'funktionieren auch die alten Links'} wieder. Vielleicht hat der Betreiber des Servers eine Sicherung.`,
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function linkNews({ news, more, unsubscribePath }: LinkNews, account: string, at: MailTextContext): MailText {
  const [first] = news
  const isOne = news.length + more === 1 && first !== undefined
  return {
    subject: isOne ? newsItem(first) : `Neues von deinen Links: ${number.format(news.length + more)}`,
    paragraphs: [`Das gibt es Neues (${account}):`],
    list: { items: news.map(newsEntry), more: more === 0 ? null : `und ${number.format(more)} weitere` },
    link: { label: 'Deine Dateien zeigen', address: at.address('/files') },
    rest: [
      '„Geteilte Links“ führt dort deine Links auf; du änderst sie dort oder nimmst sie zurück. Von wem Dateien kommen, ist, was die Absender von sich sagen.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function newsEntry(item: LinkNewsItem): ListItem {
  if (item.kind !== 'received') return newsItem(item)
  const names = item.files.map(({ name, sender }) => (sender === null ? name : `${name} (${sender})`))
  const more = item.count - names.length
  return {
    text: `${newsItem(item)}:`,
    items: more === 0 ? names : [...names, `und ${number.format(more)} weitere`],
  }
}

function newsItem(item: LinkNewsItem): string {
  switch (item.kind) {
    case 'received':
      return `${item.count === 1 ? 'Eine Datei kam' : `${number.format(item.count)} Dateien kamen`} über „${item.title}“`
    case 'downloaded':
      return downloaded(item)
    case 'used up':
      return `„${item.title}“ ist beendet: Alle Downloads wurden gemacht`
    case 'full':
      return `„${item.title}“ ist beendet: Alle Dateien, die der Link annimmt, sind da`
    case 'ends soon':
      return `„${item.title}“ endet am ${moment(item.at)} UTC`
    case 'ended':
      return `„${item.title}“ endete am ${moment(item.at)} UTC`
    case 'nearly full':
      return `Dein Speicher ist fast voll: ${formatSize(item.bytes)} sind belegt`
  }
}

function downloaded({ title, times, isFirst }: DownloadedNews): string {
  const often = (count: number) => (count === 1 ? 'einmal' : `${number.format(count)}-mal`)
  if (!isFirst) return `„${title}“ wurde ${often(times)} heruntergeladen`
  const first = `„${title}“ wurde zum ersten Mal heruntergeladen`
  return times === 1 ? first : `${first}, danach noch ${often(times - 1)}`
}

function webhookDisabled(
  { url, isGone, unsubscribePath }: WebhookDisabled,
  account: string,
  at: MailTextContext,
): MailText {
  const why = isGone
    ? 'weil sein Empfänger geantwortet hat, dass es ihn nicht mehr gibt'
    : 'weil seit einem Tag nichts davon angekommen ist'
  return {
    subject: 'Ein Webhook wurde abgeschaltet',
    paragraphs: [`Ein Webhook wurde abgeschaltet (${account}), ${why}:`],
    list: { items: [url], more: null },
    link: { label: 'Deine Webhooks zeigen', address: at.address('/settings/webhooks') },
    rest: [
      'Es wird nichts mehr dorthin gesendet. Setze ihn dort fort, oder mit „holdfast webhooks --enable“, wenn sein Empfänger funktioniert. Was nicht gesendet werden konnte, kann eine Woche lang noch einmal gesendet werden.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function contentsDamaged({ contents, files, more, unsubscribePath }: ContentsDamaged, at: MailTextContext) {
  const isOne = contents === 1
  const what = isOne ? 'Ein gespeicherter Inhalt' : `${number.format(contents)} gespeicherte Inhalte`
  return {
    subject: `${what} ${isOne ? 'ist' : 'sind'} beschädigt`,
    paragraphs: [
      `${what} auf ${at.host} ${isOne ? 'wurde' : 'wurden'} beschädigt vorgefunden. Dateien mit ${isOne ? 'diesem Inhalt' : 'diesen Inhalten'} werden nicht mehr gesendet:`,
    ],
    list: {
      items: files.map(({ name, owner }) => `${name} (${owner ?? 'ein Gast'})`),
      more: more === 0 ? null : `und ${number.format(more)} weitere`,
    },
    link: { label: 'Zeigen', address: at.address('/admin/integrity') },
    rest: [
      '„holdfast check --from <Sicherung>“ holt zurück, was eine Sicherung hat; dieselbe Datei noch einmal hochzuladen repariert sie auch. Vielleicht versagt die Platte, ihr Kabel oder der Speicher, und beschädigt noch mehr.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function backupLacks({ place, takenAt, wrong, unsubscribePath }: BackupEnded, at: MailTextContext): MailText {
  const what = wrong === 1 ? 'ein Inhalt' : `${number.format(wrong)} Inhalte`
  return {
    subject: `Der Sicherung ${wrong === 1 ? 'fehlt' : 'fehlen'} ${what}`,
    paragraphs: [
      `Die Sicherung von ${at.host} vom ${moment(takenAt)} UTC in ${place} ist gemacht, aber ${what} ${wrong === 1 ? 'konnte' : 'konnten'} nicht kopiert werden, weil sich die gespeicherten Bytes verändert haben oder verloren sind.`,
    ],
    link: { label: 'Gespeicherte Bytes zeigen', address: at.address('/admin/integrity') },
    rest: [
      '„holdfast check --read-data“ nennt die Dateien. Frühere Sicherungen haben sie vielleicht noch: „holdfast check --from <Sicherung>“ holt sie zurück. Tu das, bevor jene wegfallen.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function drillSaidYes({ place, takenAt, files, bytes, unsubscribePath }: BackupEnded, at: MailTextContext) {
  const read = files === 1 ? 'eine Datei' : `${number.format(files)} Dateien`
  return {
    subject: 'Die Sicherung lässt sich zurückspielen',
    paragraphs: [
      `Die Sicherung von ${at.host} vom ${moment(takenAt)} UTC in ${place} wurde in einen Probeordner zurückgespielt und ein Server darauf gestartet. Alle Inhalte haben ihre Prüfsummen, und ${read} mit ${formatSize(bytes)}, zufällig gewählt, ${files === 1 ? 'kam' : 'kamen'} zurück wie hochgeladen.`,
    ],
    link: { label: 'Sicherungen zeigen', address: at.address('/admin/integrity') },
    rest: [
      'Die Einstellungen und ihre Passwörter sind nicht in der Sicherung. Bewahre sie auch anderswo auf.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function drillSaidNo({ place, takenAt, wrong, unsubscribePath }: BackupEnded, at: MailTextContext): MailText {
  const what = wrong === 1 ? 'ein Inhalt fehlt oder ist' : `${number.format(wrong)} Inhalte fehlen oder sind`
  return {
    subject: 'Die Sicherung lässt sich nicht ganz zurückspielen',
    paragraphs: [
      `Die Sicherung von ${at.host} vom ${moment(takenAt)} UTC in ${place} wurde in einen Probeordner zurückgespielt, aber ${what} beschädigt.`,
    ],
    link: { label: 'Sicherungen zeigen', address: at.address('/admin/integrity') },
    rest: [
      '„holdfast drill“ nennt die Dateien. Vielleicht versagt die Platte der Sicherung: Beginne eine andere Sicherung an einem neuen Ort.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}

function backupFailed({ kind, place, reason, lastAt, unsubscribePath }: BackupFailed, at: MailTextContext) {
  const isBackup = kind === 'backup failed'
  const last = lastAt === null ? null : moment(lastAt)
  return {
    subject: isBackup ? 'Die Sicherung ist fehlgeschlagen' : 'Die Sicherung konnte nicht erprobt werden',
    paragraphs: [
      isBackup
        ? `${at.host} konnte nicht nach ${place} gesichert werden.`
        : `Die Sicherung von ${at.host} in ${place} konnte nicht in einen Probeordner zurückgespielt werden.`,
      reason,
    ],
    link: { label: 'Sicherungen zeigen', address: at.address('/admin/integrity') },
    rest: [
      isBackup
        ? `${last === null ? 'Es gibt noch keine Sicherung.' : `Die neueste Sicherung ist vom ${last} UTC.`} Der Server versucht es jede Stunde wieder und meldet sich einmal am Tag.`
        : 'Ob sie sich zurückspielen lässt, ist nicht bekannt. Der Server versucht es jeden Tag wieder.',
    ],
    end: { label: 'Diese E-Mails abbestellen', address: at.address(unsubscribePath) },
  }
}
