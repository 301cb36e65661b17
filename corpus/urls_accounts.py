"""Routes of signing in and out, and of one's own account."""

from django.urls import path

from corpus import views_account, views_sign_in

urlpatterns = [
    path("sign-in/", views_sign_in.SignIn.as_view(), name="login"),
    path("sign-in/provider/", views_sign_in.begin, name="sign_in_provider"),
    path("sign-in/provider/done/", views_sign_in.finish, name="sign_in_finish"),
    path("sign-out/", views_sign_in.SignOut.as_view(), name="logout"),
    path("sign-out/done/", views_sign_in.signed_out, name="signed_out"),
    path("sign-out/provider/", views_sign_in.leave_provider, name="sign_out_provider"),
    path("account/", views_account.account, name="account"),
    path("account/sessions/end/", views_account.end_session, name="account_end_session"),
    path("account/password/", views_account.ChangePassword.as_view(), name="account_password"),
    path("account/connect/", views_account.connect, name="account_connect"),
]
