import { Loaded } from '../../shared/app/loaded.tsx'
import { PageSection } from '../../shared/app/part.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { useAdmin } from '../admin-context.ts'
import { fetchBranding } from '../client.ts'
import { AppearanceForm } from './appearance-form.tsx'
import { LogoPart } from './logo-part.tsx'

/** The operator's own name, logo, colour and texts. */
export function AppearanceSection() {
  const { appearance } = useAdmin().texts
  const { answered, again } = useAnswer(fetchBranding)
  return (
    <PageSection title={appearance.title} why={appearance.why}>
      <Loaded again={again} answered={answered}>
        {(branding) => (
          <>
            <LogoPart changed={again} path={branding.logo_url} />
            <AppearanceForm branding={branding} changed={again} />
          </>
        )}
      </Loaded>
    </PageSection>
  )
}
