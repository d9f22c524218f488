/** What a contributor says of themselves, kept as long as the tab so that uploads go on after a reload. */
export interface Answers {
  all(): Readonly<Record<string, string>>
  set(name: string, value: string): void
}

export function openAnswers(link: string): Answers {
  const key = `holdfast-answers-${link}`
  let answers = read(key)
  return {
    all: () => answers,
    set(name, value) {
      answers = { ...answers, [name]: value }
      try {
        sessionStorage.setItem(key, JSON.stringify(answers))
      } catch {
        // They are gone with the page.
      }
    },
  }
}

function read(key: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? '{}')
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string'))
  } catch {
    return {}
  }
}

/** On the server there are none. */
export const noAnswers: Answers = { all: () => ({}), set() {} }
