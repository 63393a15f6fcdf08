import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ChangePasswordForm } from "./change-password";

function setUp(answer: () => Response) {
  const asked = vi.fn(async (request: Request) => {
    void request;
    return answer();
  });
  vi.stubGlobal("fetch", asked);
  const onDone = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ChangePasswordForm onDone={onDone} />
    </QueryClientProvider>,
  );
  const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
  return { asked, onDone, type, button: () => screen.getByRole("button", { name: "Change password" }) };
}

afterEach(() => vi.unstubAllGlobals());

describe("changing the password", () => {
  it("says why it cannot be sent yet and sends nothing", () => {
    const { asked, type, button } = setUp(() => new Response(null, { status: 204 }));
    expect(button().getAttribute("aria-disabled")).toBe("true");
    type("Password so far", "the first one");
    expect(screen.getByText("The new password is too short")).toBeTruthy();
    type("New password", "correct horse battery");
    expect(screen.getByText("The two new passwords differ")).toBeTruthy();
    fireEvent.click(button());
    fireEvent.submit(button().closest("form") as HTMLFormElement);
    expect(asked).not.toHaveBeenCalled();
  });

  it("sends both passwords once and leads on", async () => {
    const { asked, onDone, type, button } = setUp(() => new Response(null, { status: 204 }));
    type("Password so far", "the first one");
    type("New password", "correct horse battery");
    type("New password again", "correct horse battery");
    fireEvent.click(button());
    fireEvent.submit(button().closest("form") as HTMLFormElement);
    await waitFor(() => expect(onDone).toHaveBeenCalledTimes(1));
    expect(asked).toHaveBeenCalledTimes(1);
    const request = asked.mock.calls[0]?.[0] as Request;
    expect(request.method).toBe("POST");
    expect(await request.json()).toEqual({ current_password: "the first one", new_password: "correct horse battery" });
  });

  it("puts the server's words at the field they are about", async () => {
    const problem = {
      type: "urn:pegel:problem:invalid",
      title: "invalid input",
      status: 400,
      detail: "one field is wrong",
      instance: "/api/v1/account/password",
      code: "invalid",
      request_id: "01939f2e-7c1a-7000-8000-000000000000",
      errors: [{ pointer: "/current_password", code: "secret", detail: "is not the present password" }],
    };
    const { onDone, type, button } = setUp(() => Response.json(problem, { status: 400 }));
    type("Password so far", "a wrong one");
    type("New password", "correct horse battery");
    type("New password again", "correct horse battery");
    fireEvent.submit(button().closest("form") as HTMLFormElement);
    expect(await screen.findByText("Is not the present password.")).toBeTruthy();
    expect(screen.getByLabelText("Password so far").getAttribute("aria-invalid")).toBe("true");
    expect(onDone).not.toHaveBeenCalled();
  });
});
