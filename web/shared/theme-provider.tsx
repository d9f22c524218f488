import { MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { theme } from './theme.ts'

/** Without what Mantine would write into the page by itself: its variables are in theme.css, where no script is needed. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  return (
    <MantineProvider
      colorSchemeManager={systemScheme}
      defaultColorScheme="auto"
      getRootElement={() => undefined}
      theme={theme}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  )
}

/** The stylesheets ask the system themselves; nothing is kept. */
const systemScheme = {
  get: () => 'auto' as const,
  set() {},
  subscribe() {},
  unsubscribe() {},
  clear() {},
}
