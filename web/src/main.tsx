import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "~/ui/theme.css";
import { createQueryClient, whenSignedOut } from "~/api/client";
import { sessionQuery } from "~/api/session";
import { createAppRouter } from "~/routes/router";
import { applyTheme } from "~/ui/theme-choice";

applyTheme();
const queries = createQueryClient();
const router = await createAppRouter(queries);
whenSignedOut(() => {
  // Who was not signed in before is led to the login by the route that asked.
  if (queries.getQueryData(sessionQuery.queryKey) === undefined) return;
  queries.removeQueries({ queryKey: sessionQuery.queryKey });
  // The routes for the signed-in ask again who that is, and lead to the login.
  void router.invalidate();
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
