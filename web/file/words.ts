/** Words and numbers in the language of the page. */

/** Puts values where the text has their names in braces. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) return whole
    return typeof value === 'number' ? number(value) : value
  })
}

export function number(value: number): string {
  return value.toLocaleString(locale())
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** In the units of the whole site, each 1024 times the one before. */
export function size(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return (bytes / 1024 ** power).toLocaleString(locale(), {
    style: 'unit',
    unit: UNITS[power],
    maximumFractionDigits: 1,
  })
}

function locale(): string {
  return document.documentElement.lang
}
