import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { ProofDialog } from '../dialogs/proof-dialog.tsx'
import { ThemeProvider } from '../theme-provider.tsx'
import { createWords } from '../words.ts'
import { AppContext, type AppTexts } from './app-context.ts'

/** Milliseconds for which a confirmation is shown. */
const MOMENT = 6000

interface AppProps {
  readonly locale: string
  readonly texts: AppTexts
  readonly children: ReactNode
}

/** Wraps the sections of a signed-in user's page. */
export function App({ locale, texts, children }: AppProps) {
  const [said, say] = useState('')
  const [asking, setAsking] = useState<((isProved: boolean) => void) | null>(null)
  const tools = useMemo(() => {
    const prove = () => new Promise<boolean>((resolve) => setAsking(() => resolve))
    return { locale, texts, words: createWords(locale), say, prove }
  }, [locale, texts])
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(say, MOMENT, '')
    return () => clearTimeout(timer)
  }, [said])
  return (
    <ThemeProvider>
      <AppContext value={tools}>
        {children}
        {asking === null ? null : (
          <ProofDialog
            end={(isProved) => {
              setAsking(null)
              asking(isProved)
            }}
          />
        )}
        <p className="said" role="status">
          {said}
        </p>
      </AppContext>
    </ThemeProvider>
  )
}
