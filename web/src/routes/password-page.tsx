import { useNavigate } from "@tanstack/react-router";
import { PasswordPage } from "~/features/access/password-page";

export function PasswordRoutePage() {
  const navigate = useNavigate();
  return <PasswordPage onDone={() => void navigate({ to: "/" })} />;
}
