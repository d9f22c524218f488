/** Realistic file names: 15 to 40 characters, several scripts, dates and extensions. */

const WORDS = [
  ...'annual report draft final budget meeting notes holiday beach garden contract signed client proposal'.split(
    ' ',
  ),
  ...'interview research summary training handbook release product roadmap design review weekly invoice'.split(
    ' ',
  ),
  ...'rechnung stadtwerke bericht entwurf urlaub familie steuer vertrag übersicht müller straße größe'.split(
    ' ',
  ),
  ...'facture devis réunion été école société données présentation mémoire château informe año niño'.split(
    ' ',
  ),
]
const OTHER_SCRIPTS = [
  'Отчёт за квартал',
  'Договор аренды квартиры',
  'Фотографии с отпуска',
  'Протокол совещания',
  '项目计划书最终版',
  '财务报表和预算说明文件',
  '会议记录与行动项目清单',
  '会議議事録と次回の予定',
  '夏休みの写真アルバム',
  '프로젝트 계획서 최종본',
  'Αναφορά πωλήσεων τριμήνου',
  'تقرير المبيعات السنوي',
  'परियोजना रिपोर्ट अंतिम',
  'รายงานการประชุมประจำเดือน',
]
const DOCUMENTS = ['pdf', 'pdf', 'pdf', 'docx', 'docx', 'xlsx', 'pptx', 'txt', 'odt', 'PDF']
const LETTERS = 'abcdefghiklmnoprstuvw'

/** Name of a folder; the number makes it unique among siblings. */
export function folderName(random: () => number, number: number): string {
  const name = random() < 0.25 ? pick(random, OTHER_SCRIPTS) : `${pick(random, WORDS)} ${pick(random, WORDS)}`
  return `${name} ${number}`
}

/** Name and type of a file. `kind` is from 0 to 1; `time` is its creation in milliseconds since the epoch. */
export function scaleFileName(
  kind: number,
  random: () => number,
  time: number,
): { name: string; type: string } {
  const at = new Date(time).toISOString()
  const date = at.slice(0, 10)
  const day = date.replaceAll('-', '')
  const clock = at.slice(11, 19).replaceAll(':', '')
  if (kind < 0.2) return image(`IMG_${day}_${clock}${kind < 0.05 ? ' (1)' : ''}.jpg`)
  if (kind < 0.27) return image(`Photo ${digits(random, 5)} ${pick(random, WORDS)}.JPG`)
  if (kind < 0.35) return { name: `PXL_${day}_${clock}${digits(random, 3)}.mp4`, type: 'video/mp4' }
  if (kind < 0.43) {
    const name = `Screenshot ${date} at ${at.slice(11, 19).replaceAll(':', '.')}.png`
    return { name, type: 'image/png' }
  }
  if (kind < 0.5) {
    return { name: `backup-${date}-${hex(random, 8)}.tar.gz`, type: 'application/gzip' }
  }
  if (kind < 0.57) {
    const name = `${digits(random, 2)} - ${title(random)} - ${title(random)}.flac`
    return { name, type: 'audio/flac' }
  }
  if (kind < 0.75)
    return paper(random, `${pick(random, OTHER_SCRIPTS)} ${date.slice(0, 7)} v${digits(random, 1)}`)
  return paper(random, `${title(random)} ${pick(random, WORDS)} ${date.slice(0, 7)} ${made(random)}`)
}

/** Size of a file of that kind: pictures, videos, archives and music are larger than documents. */
export function fileSize(kind: number, random: () => number): number {
  if (kind < 0.27) return amount(random, 5.8, 7)
  if (kind < 0.35) return amount(random, 7.3, 8.7)
  if (kind < 0.43) return amount(random, 5, 6.3)
  if (kind < 0.57) return amount(random, 7, 8)
  return amount(random, 3.5, 6.7)
}

function amount(random: () => number, least: number, most: number): number {
  return Math.floor(10 ** (least + random() * (most - least)))
}

function image(name: string): { name: string; type: string } {
  return { name, type: 'image/jpeg' }
}

function paper(random: () => number, stem: string): { name: string; type: string } {
  return { name: `${stem}.${pick(random, DOCUMENTS)}`, type: 'application/pdf' }
}

/** A random word, like the name of a street or a customer. */
function made(random: () => number): string {
  let word = ''
  for (let count = 3 + Math.floor(random() * 5); count > 0; count--) word += pick(random, LETTERS)
  return word
}

function title(random: () => number): string {
  const word = pick(random, WORDS)
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function digits(random: () => number, count: number): string {
  return String(Math.floor(random() * 10 ** count)).padStart(count, '0')
}

function hex(random: () => number, count: number): string {
  return Math.floor(random() * 16 ** count)
    .toString(16)
    .padStart(count, '0')
}

function pick(random: () => number, from: ArrayLike<string>): string {
  return from[Math.floor(random() * from.length)] ?? ''
}
